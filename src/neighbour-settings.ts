import { isIP } from 'node:net';
import type { CheckoutConfig, ServerConfig } from './config.ts';
import type { SmsConfig } from './identity/sms/sender.ts';
import type { Fault, Values } from './platform/settings.ts';
import type { settings } from './setting-table.ts';

/** A little less than the guard around it allows, so that the log names the real reason. */
const acquirerTimeoutMs = 3_800;

export function readAcquirer(
  kind: 'sandbox' | 'http' | 'none',
  values: Values<typeof settings>,
  faults: Fault[],
): CheckoutConfig['acquirer'] {
  if (kind !== 'http') return { kind };
  const { acquirerUrl: url = '', acquirerSecret: secret = '' } = values;
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
    faults.push({
      name: 'ACQUIRER_URL',
      problem: 'It is not an http or https URL.',
      remedy: 'Name your gateway.',
    });
  }
  if (secret === '') {
    faults.push({ name: 'ACQUIRER_SECRET', problem: 'It is needed with ACQUIRER=http.', remedy: 'Set it.' });
  }
  return { kind, url, secret, timeoutMs: acquirerTimeoutMs };
}

const smsTimeoutMs = 4_000;

export function readSms(values: Values<typeof settings>, faults: Fault[]): SmsConfig {
  const sender = values.smsSender ?? 'console';
  const needed = (name: string, value: string | undefined): string => {
    if (value !== undefined) return value;
    faults.push({ name, problem: `It is needed with SMS_SENDER=${sender}.`, remedy: 'Set it.' });
    return '';
  };
  switch (sender) {
    case 'console':
      return { kind: sender };
    case 'http': {
      const url = needed('SMS_HTTP_URL', values.smsHttpUrl);
      if (url !== '' && !(URL.canParse(url) && /^https?:$/.test(new URL(url).protocol))) {
        faults.push({
          name: 'SMS_HTTP_URL',
          problem: 'It is not an http or https URL.',
          remedy: 'Give one.',
        });
      }
      return {
        kind: sender,
        url,
        secret: needed('SMS_HTTP_SECRET', values.smsHttpSecret),
        timeoutMs: smsTimeoutMs,
      };
    }
    case 'smpp': {
      const url = needed('SMPP_URL', values.smppUrl);
      if (url !== '' && !/^s?smpp:\/\/[^\s/@]+$/.test(url)) {
        faults.push({
          name: 'SMPP_URL',
          problem: 'It is not an SMPP address.',
          remedy: 'Write smpp://host:2775.',
        });
      }
      return {
        kind: sender,
        url,
        systemId: needed('SMPP_SYSTEM_ID', values.smppSystemId),
        password: needed('SMPP_PASSWORD', values.smppPassword),
        from: values.smsFrom ?? 'Tollgate',
        timeoutMs: smsTimeoutMs,
      };
    }
  }
}

export function readTrustProxy(given: string, faults: Fault[]): ServerConfig['trustProxy'] {
  if (given === 'none') return false;
  // No hop is nobody, and has to read like it: whoever asks whether there is a proxy compares with false.
  if (/^\d{1,2}$/.test(given)) return Number(given) || false;
  const networks = given.split(',').map((one) => one.trim());
  if (networks.every(isNetwork)) return networks;
  faults.push({
    name: 'TRUST_PROXY',
    problem: `"${given}" is neither none, a number of hops, nor a list of addresses.`,
    remedy: 'Give for example 1, or 10.0.0.0/8,192.168.1.7.',
  });
  return false;
}

function isNetwork(given: string): boolean {
  const [address = '', bits, ...rest] = given.split('/');
  const version = isIP(address);
  if (version === 0 || address.includes('%') || rest.length > 0) return false;
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128));
}
