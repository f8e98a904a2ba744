import { type Queryable, sql, type Transaction } from '../../platform/db.ts';
import { type PurposeKey, reseal } from '../../platform/seal.ts';
import type { DisabledReason, Endpoint } from '../domain/endpoint.ts';
import { type Owner, ownerKey, ownerOf } from '../domain/owner.ts';

type EndpointRow = {
  owner: string;
  endpointId: string;
  url: string;
  eventTypes: string[];
  description: string | null;
  status: Endpoint['status'];
  disabledReason: DisabledReason | null;
  disabledAt: Date | null;
  failingSince: Date | null;
  previousSecretExpiresAt: Date | null;
  createdAt: Date;
};

/** The secrets as they lie in the database. */
export type SealedSecrets = {
  secretSealed: Buffer;
  previousSecretSealed: Buffer | null;
  previousSecretExpiresAt: Date | null;
};

/** False when the owner has as many as it may have. Of two at once the second waits, and counts the first. */
export async function insertEndpoint(
  tx: Transaction,
  endpoint: Endpoint,
  secretSealed: Buffer,
  most: number,
): Promise<boolean> {
  const owner = ownerKey(endpoint.owner);
  await tx.run(sql`select pg_advisory_xact_lock(hashtextextended(${`webhooks ${owner}`}, 0))`);
  const inserted = await tx.run(sql`
    insert into webhooks.endpoints (owner, endpoint_id, url, event_types, description, status, secret_sealed, created_at)
    select ${owner}, ${endpoint.id}, ${endpoint.url}, ${endpoint.events}, ${endpoint.description}, 'enabled',
      ${secretSealed}, ${endpoint.createdAt}
    where (select count(*) from webhooks.endpoints where owner = ${owner}) < ${most}::int`);
  return inserted === 1;
}

/** Everybody who has an endpoint. */
export async function listOwners(db: Queryable): Promise<Owner[]> {
  const rows = await db.many<{ owner: string }>(sql`
    select distinct owner from webhooks.endpoints order by owner`);
  return rows.map((row) => ownerOf(row.owner));
}

/** Oldest first. */
export async function listEndpoints(db: Queryable, owner: Owner): Promise<Endpoint[]> {
  const rows = await db.many<EndpointRow>(sql`
    select * from webhooks.endpoints where owner = ${ownerKey(owner)} order by created_at, endpoint_id`);
  return rows.map(toEndpoint);
}

export async function findEndpoint(db: Queryable, owner: Owner, id: string): Promise<Endpoint | undefined> {
  const row = await db.maybeOne<EndpointRow>(sql`
    select * from webhooks.endpoints where owner = ${ownerKey(owner)} and endpoint_id = ${id}`);
  return row && toEndpoint(row);
}

export async function findEndpointWithSecrets(
  db: Queryable,
  owner: Owner,
  id: string,
): Promise<{ endpoint: Endpoint; secrets: SealedSecrets } | undefined> {
  const row = await db.maybeOne<EndpointRow & SealedSecrets>(sql`
    select * from webhooks.endpoints where owner = ${ownerKey(owner)} and endpoint_id = ${id}`);
  return row && { endpoint: toEndpoint(row), secrets: row };
}

/** Holds the row until the transaction ends. */
export async function lockEndpoint(tx: Transaction, owner: Owner, id: string): Promise<Endpoint | undefined> {
  const row = await tx.maybeOne<EndpointRow>(sql`
    select * from webhooks.endpoints where owner = ${ownerKey(owner)} and endpoint_id = ${id} for no key update`);
  return row && toEndpoint(row);
}

export async function saveEndpoint(tx: Transaction, endpoint: Endpoint): Promise<void> {
  const disabled = endpoint.status === 'disabled' ? endpoint : null;
  await tx.run(sql`
    update webhooks.endpoints set url = ${endpoint.url}, event_types = ${endpoint.events},
      description = ${endpoint.description}, status = ${endpoint.status}, disabled_reason = ${disabled?.reason ?? null},
      disabled_at = ${disabled?.disabledAt ?? null}, failing_since = ${endpoint.failingSince}
    where owner = ${ownerKey(endpoint.owner)} and endpoint_id = ${endpoint.id}`);
}

/** The secret of today becomes the one before, and the one before that is gone. */
export async function saveNewSecret(
  tx: Transaction,
  endpoint: Endpoint,
  secret: { sealed: Buffer; previousUntil: Date },
): Promise<void> {
  await tx.run(sql`
    update webhooks.endpoints set previous_secret_sealed = secret_sealed,
      previous_secret_expires_at = ${secret.previousUntil}, secret_sealed = ${secret.sealed}
    where owner = ${ownerKey(endpoint.owner)} and endpoint_id = ${endpoint.id}`);
}

/** Seals the secrets of all endpoints anew, and tells how many endpoints there are. */
export async function resealSecrets(
  tx: Transaction,
  keys: { from: PurposeKey; to: PurposeKey },
): Promise<number> {
  await tx.run(sql`lock table webhooks.endpoints in exclusive mode`);
  type Row = { owner: string; endpointId: string; secretSealed: Buffer; previousSecretSealed: Buffer | null };
  const rows = await tx.many<Row>(sql`
    select owner, endpoint_id, secret_sealed, previous_secret_sealed from webhooks.endpoints`);
  for (const { owner, endpointId, secretSealed, previousSecretSealed } of rows) {
    const previous = previousSecretSealed && reseal(keys, previousSecretSealed, endpointId);
    await tx.run(sql`
      update webhooks.endpoints set secret_sealed = ${reseal(keys, secretSealed, endpointId)},
        previous_secret_sealed = ${previous}
      where owner = ${owner} and endpoint_id = ${endpointId}`);
  }
  return rows.length;
}

/** All that waits for it is to begin anew, from the first object on. */
export async function saveRestart(tx: Transaction, endpoint: Endpoint, at: Date): Promise<void> {
  await tx.run(sql`
    update webhooks.endpoints set enabled_at = ${at}, restart_after = '00000000-0000-0000-0000-000000000000'
    where owner = ${ownerKey(endpoint.owner)} and endpoint_id = ${endpoint.id}`);
}

/** What waits for it is not sent any more, and is left to be deleted. */
export async function deleteEndpoint(tx: Transaction, owner: Owner, id: string): Promise<boolean> {
  const deleted = await tx.run(sql`
    delete from webhooks.endpoints where owner = ${ownerKey(owner)} and endpoint_id = ${id}`);
  return deleted === 1;
}

function toEndpoint(row: EndpointRow): Endpoint {
  const shared = {
    owner: ownerOf(row.owner),
    id: row.endpointId,
    url: row.url,
    events: row.eventTypes,
    description: row.description,
    failingSince: row.failingSince,
    previousSecretExpiresAt: row.previousSecretExpiresAt,
    createdAt: row.createdAt,
  };
  if (row.status === 'enabled') return { ...shared, status: 'enabled' };
  if (!row.disabledReason || !row.disabledAt) {
    throw new Error(`webhook endpoint ${row.endpointId} is disabled but nobody knows why`);
  }
  return { ...shared, status: 'disabled', reason: row.disabledReason, disabledAt: row.disabledAt };
}
