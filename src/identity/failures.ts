import type { Database } from '../platform/db.ts';
import { mac, type PurposeKey } from '../platform/seal.ts';
import type { AuthenticationFailures } from './client-authentication.ts';
import { addressBlockOf } from './domain/address-block.ts';
import { takeBudgets } from './store/budgets.ts';

const allowed = { max: 10, windowMs: 5 * 60_000 };
const mostRemembered = 10_000;
/** Longer than any name of a client with any address: what is longer was made up, and is not worth remembering. */
const longestPlace = 300;
const trustedMs = 24 * 3600_000;

/**
 * Failed client authentications, counted for all nodes in the database. A good one costs nothing: only a failure is
 * counted, and each node remembers whom it has to turn away until when.
 */
export function createAuthenticationFailures(deps: {
  db: Database;
  now: () => Date;
  /** Hides in the database who has tried, and from where. */
  key: PurposeKey;
}): AuthenticationFailures {
  const blocked = new Map<string, Date>();
  const trusted = new Map<string, Date>();
  /** The same client comes from the same place again and again, and each time its key would have to be derived. */
  const keys = new Map<string, string>();
  const remember = <Value>(place: Map<string, Value>, key: string, value: Value) => {
    if (place.size >= mostRemembered) place.clear();
    place.set(key, value);
  };
  // Whoever has one IPv6 address has a whole block of them, so failures are counted by block.
  const keyOf = (clientId: string, address: string) => {
    const place = JSON.stringify([clientId, address]);
    const known = keys.get(place);
    if (known !== undefined) return known;
    const hidden = mac(deps.key, JSON.stringify([clientId, addressBlockOf(address)])).toString('base64url');
    const key = `client secret ${hidden}`;
    if (place.length <= longestPlace) remember(keys, place, key);
    return key;
  };
  return {
    blockedUntil(clientId, address) {
      const key = keyOf(clientId, address);
      const now = deps.now();
      const until = blocked.get(key);
      if (!until || until <= now) return undefined;
      return (trusted.get(key) ?? now) > now ? undefined : until;
    },
    async count(client, clientId, address) {
      // Made-up clients share one budget, or each would leave a row behind.
      const counted = keyOf(client ? clientId : '', address);
      const now = deps.now();
      const until = blocked.get(counted);
      if (until && until > now) return until;
      const taken = await takeBudgets(deps.db, [{ key: counted, ...allowed }], now);
      if (taken.ok) return undefined;
      remember(blocked, counted, taken.retryAt);
      return taken.retryAt;
    },
    trust(clientId, address) {
      const key = keyOf(clientId, address);
      const now = deps.now().getTime();
      const left = (trusted.get(key)?.getTime() ?? now) - now;
      if (left < trustedMs / 2) remember(trusted, key, new Date(now + trustedMs));
    },
  };
}
