import type { Queryable } from '../platform/db.ts';
import type { Client } from './domain/client.ts';
import { findClient } from './store/clients.ts';

export type ClientDirectory = { find(clientId: string): Promise<Client | undefined> };

/** How long a node may go on with what it knows of a client: a rotated secret is seen after this at the latest. */
const freshForMs = 1_000;
const mostKept = 10_000;
/** As the table has it. Anything else is nobody's name, and some of it PostgreSQL could not even read. */
const possibleId = /^[A-Za-z0-9._-]{1,64}$/;

/**
 * Clients change rarely and are needed by every call, so each is read at most once a second. What must be seen at
 * once (a client switched off while it refreshes or exchanges) is checked again inside the statement itself.
 */
export function createClientDirectory(db: Queryable): ClientDirectory {
  const known = new Map<string, { client: Promise<Client | undefined>; readAt: number }>();
  return {
    find(clientId) {
      if (!possibleId.test(clientId)) return Promise.resolve(undefined);
      const now = performance.now();
      const entry = known.get(clientId);
      if (entry && now - entry.readAt < freshForMs) return entry.client;
      const client = findClient(db, clientId);
      // Made-up names must not fill the memory; emptying it costs a read for each client, no more.
      if (known.size >= mostKept) known.clear();
      known.set(clientId, { client, readAt: now });
      client.catch(() => known.delete(clientId));
      return client;
    },
  };
}
