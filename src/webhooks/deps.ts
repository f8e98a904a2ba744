import type { Database, Queryable, Transaction } from '../platform/db.ts';
import type { Logger } from '../platform/log.ts';
import type { OutgoingPolicy, Resolve } from '../platform/outgoing.ts';
import type { PurposeKey } from '../platform/seal.ts';
import type { Owner } from './domain/owner.ts';
import type { WebhookMetrics } from './metrics.ts';

/** An event without its text: whose it is, and its place among those of the same object. */
export type EventKey = { eventId: string; objectId: string; sequence: bigint; type: string };

/** Where the events of one kind of owner are kept. The connection is the caller's. */
export type EventSource = {
  payload(db: Queryable, ownerId: string, eventId: string): Promise<string | undefined>;
  find(db: Queryable, ownerId: string, eventId: string): Promise<EventKey | undefined>;
  /** Oldest first, from one instant up to another. */
  list(db: Queryable, ownerId: string, range: { from: Date; to: Date; limit: number }): Promise<EventKey[]>;
};

export type AuditNote = { at: Date; actor: string; action: string; details: Record<string, string> };

/** What the area works with. Built once in `app.ts` and passed by hand. */
export type WebhookDeps = {
  db: Database;
  log: Logger;
  now: () => Date;
  newId: () => string;
  /** From 0 up to 1. */
  chance: () => number;
  /** The key under which the secrets of endpoints lie in the database. */
  secretsKey: PurposeKey;
  outgoing: OutgoingPolicy;
  /** Another way from a name to its addresses than the system's, for tests. */
  resolve: Resolve | undefined;
  userAgent: string;
  metrics: WebhookMetrics;
  sources: Record<Owner['kind'], EventSource>;
  isKnown: (owner: Owner) => Promise<boolean>;
  audit: (tx: Transaction, note: AuditNote) => Promise<void>;
};
