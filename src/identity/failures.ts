import type { Database } from '../platform/db.ts';
import { mac, type PurposeKey } from '../platform/seal.ts';
import type { AuthenticationFailures } from './client-authentication.ts';
import { takeBudgets } from './store/budgets.ts';

const allowed = { max: 10, windowMs: 5 * 60_000 };
const mostRemembered = 10_000;

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
  const keyOf = (clientId: string, address: string) =>
    `client secret ${mac(deps.key, JSON.stringify([clientId, address])).toString('base64url')}`;
  return {
    blockedUntil(clientId, address) {
      const until = blocked.get(keyOf(clientId, address));
      return until && until > deps.now() ? until : undefined;
    },
    async count(clientId, address) {
      const key = keyOf(clientId, address);
      const taken = await takeBudgets(deps.db, [{ key, ...allowed }], deps.now());
      if (taken.ok) return undefined;
      if (blocked.size >= mostRemembered) blocked.clear();
      blocked.set(key, taken.retryAt);
      return taken.retryAt;
    },
  };
}
