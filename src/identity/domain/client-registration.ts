import { isIP } from 'node:net';
import { type Client, grantTypes, merchantScopes, personScopes } from './client.ts';

export type RegistrationFault = { field: string; detail: string };

type Registered = Pick<
  Client,
  | 'clientId'
  | 'name'
  | 'redirectUris'
  | 'postLogoutRedirectUris'
  | 'backchannelLogoutUri'
  | 'scopes'
  | 'grantTypes'
  | 'merchantId'
  | 'accessTokenSeconds'
  | 'refreshTokenSeconds'
>;

const longestAddresses = 20_000;

/** What keeps a client from being registered; nothing is stored while there is anything. */
export function registrationFaults(client: Registered, options: { local: boolean }): RegistrationFault[] {
  const faults: RegistrationFault[] = [];
  const check = (field: string, address: string, fault: string | undefined) => {
    if (fault) faults.push({ field, detail: `${JSON.stringify(address)} ${fault}` });
  };
  if (!/^[A-Za-z0-9._-]{1,64}$/.test(client.clientId)) {
    faults.push({
      field: 'clientId',
      detail: 'It takes 1 to 64 letters, digits, dots, hyphens and underscores.',
    });
  }
  if (client.name.trim() === '' || client.name.length > 100) {
    faults.push({ field: 'name', detail: 'It takes 1 to 100 characters; people see it when they log in.' });
  }
  for (const address of client.redirectUris) check('redirectUris', address, redirectFault(address));
  for (const address of client.postLogoutRedirectUris)
    check('postLogoutRedirectUris', address, redirectFault(address));
  if (client.backchannelLogoutUri !== null) {
    check(
      'backchannelLogoutUri',
      client.backchannelLogoutUri,
      serverFault(client.backchannelLogoutUri, options.local),
    );
  }
  if (client.grantTypes.includes('authorization_code') && client.redirectUris.length === 0) {
    faults.push({ field: 'redirectUris', detail: 'People have to come back somewhere: give at least one.' });
  }
  if (client.redirectUris.join(' ').length > longestAddresses) {
    faults.push({
      field: 'redirectUris',
      detail: `All together take ${longestAddresses} characters at most.`,
    });
  }
  return [...faults, ...accessFaults(client)];
}

/** What a client may ask for, and for how long it gets it. */
function accessFaults(client: Registered): RegistrationFault[] {
  const faults: RegistrationFault[] = [];
  if (client.grantTypes.length === 0) {
    faults.push({ field: 'grantTypes', detail: `Give at least one of ${grantTypes.join(', ')}.` });
  }
  if (client.grantTypes.includes('refresh_token') && !client.grantTypes.includes('authorization_code')) {
    faults.push({
      field: 'grantTypes',
      detail: 'refresh_token needs authorization_code, where the first one comes from.',
    });
  }
  const known: readonly string[] = [...personScopes, ...merchantScopes];
  for (const scope of client.scopes) {
    if (!known.includes(scope))
      faults.push({ field: 'scopes', detail: `${scope} is not one of ${known.join(', ')}.` });
  }
  const forMerchant = client.scopes.filter((scope) => (merchantScopes as readonly string[]).includes(scope));
  if (forMerchant.length > 0 && client.merchantId === null) {
    faults.push({ field: 'merchantId', detail: `${forMerchant.join(', ')} is about a merchant: say which.` });
  }
  if (!(client.accessTokenSeconds >= 30 && client.accessTokenSeconds <= 3600)) {
    faults.push({ field: 'accessTokenSeconds', detail: 'It takes 30 to 3600 seconds.' });
  }
  if (!(client.refreshTokenSeconds >= 60 && client.refreshTokenSeconds <= 36_000)) {
    faults.push({ field: 'refreshTokenSeconds', detail: 'It takes 60 to 36000 seconds.' });
  }
  return faults;
}

/**
 * Where a browser may be sent (RFC 9700, 2.6; RFC 8252): https, http to this very device, or an app's own scheme, which
 * has a dot in it. Everything that browsers run instead of opening it (`javascript:`, `data:`) has none.
 */
function redirectFault(address: string): string | undefined {
  const url = plainUrl(address);
  if (typeof url === 'string') return url;
  if (url.protocol === 'https:') return undefined;
  if (url.protocol === 'http:')
    return isLoopback(url.hostname) ? undefined : 'must be https: http is for loopback only.';
  return /^[a-z][a-z0-9+-]*(\.[a-z0-9+-]+)+:$/.test(url.protocol)
    ? undefined
    : 'must be https, or the scheme of an app, such as com.example.app:/callback.';
}

function serverFault(address: string, local: boolean): string | undefined {
  const url = plainUrl(address);
  if (typeof url === 'string') return url;
  return url.protocol === 'https:' || (local && url.protocol === 'http:') ? undefined : 'must be https.';
}

function plainUrl(address: string): URL | string {
  if (!URL.canParse(address) || /[\s\\]/.test(address) || address.length > 2048)
    return 'is not an absolute URL.';
  const url = new URL(address);
  if (url.username || url.password) return 'must not carry credentials.';
  if (address.includes('#')) return 'must not have a fragment.';
  return url;
}

function isLoopback(host: string): boolean {
  const name = host.replace(/^\[|\]$/g, '');
  return (
    name === 'localhost' ||
    name.endsWith('.localhost') ||
    name === '::1' ||
    (isIP(name) === 4 && name.startsWith('127.'))
  );
}
