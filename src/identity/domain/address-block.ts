import ipaddr from 'ipaddr.js';

/**
 * The network that an address is likely to share with one owner: whoever rents addresses gets a /24 or a /48 at once,
 * so a limit per single address would be no limit. What cannot be read shares one block, and so one small budget.
 */
export function addressBlockOf(address: string): string {
  if (!ipaddr.isValid(address)) return 'unreadable';
  // An IPv4 address that arrived over an IPv6 socket (::ffff:192.0.2.1) counts as the IPv4 address it is.
  const parsed = ipaddr.process(address);
  const bits = parsed.kind() === 'ipv4' ? 24 : 48;
  const bytes = parsed.toByteArray().slice(0, bits / 8);
  return `${parsed.kind()} ${Buffer.from(bytes).toString('hex')}`;
}
