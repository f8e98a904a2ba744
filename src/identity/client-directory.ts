import type { Queryable } from '../platform/db.ts';
import { readOnceASecond } from '../platform/recent-reads.ts';
import type { Client } from './domain/client.ts';
import { findClient } from './store/clients.ts';

export type ClientDirectory = { find(clientId: string): Promise<Client | undefined> };

/** As the table has it. Anything else is nobody's name, and some of it PostgreSQL could not even read. */
const possibleId = /^[A-Za-z0-9._-]{1,64}$/;

/**
 * Clients change rarely and are needed by every call. A node sees a rotated secret after a second at the latest; what
 * must be seen at once (a client switched off while it refreshes or exchanges) is checked again inside the statement
 * itself.
 */
export function createClientDirectory(db: Queryable): ClientDirectory {
  const read = readOnceASecond((clientId) => findClient(db, clientId));
  return {
    find: (clientId) => (possibleId.test(clientId) ? read(clientId) : Promise.resolve(undefined)),
  };
}
