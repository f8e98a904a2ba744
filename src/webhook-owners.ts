import * as checkoutEvents from './checkout/store/events.ts';
import { findMerchant } from './checkout/store/merchants.ts';
import { writeAudit } from './identity/store/audit.ts';
import { findClient } from './identity/store/clients.ts';
import * as identityEvents from './identity/store/events.ts';
import { type Database, type Queryable, sql } from './platform/db.ts';
import type { EventSource, WebhookDeps } from './webhooks/deps.ts';
import { type Owner, ownerOf } from './webhooks/domain/owner.ts';

/** What webhooks have to know of the two areas: whose events there are, and who may be told of them. */
export function webhookOwners(db: Database): Pick<WebhookDeps, 'sources' | 'isKnown' | 'audit'> {
  return {
    sources: { merchant: sourceOf(checkoutEvents), partner: sourceOf(identityEvents) },
    async isKnown({ kind, id }) {
      if (kind === 'merchant') return (await findMerchant(db, id)) !== undefined;
      const client = await findClient(db, id);
      return client !== undefined && client.merchantId === null;
    },
    audit: writeAudit,
  };
}

/** Everybody who has an endpoint. */
export async function listOwners(db: Queryable): Promise<Owner[]> {
  const rows = await db.many<{ owner: string }>(sql`
    select distinct owner from webhooks.endpoints order by owner`);
  return rows.map((row) => ownerOf(row.owner));
}

function sourceOf(events: typeof checkoutEvents | typeof identityEvents): EventSource {
  return { payload: events.findEventPayload, find: events.findEventKey, list: events.listEventKeys };
}
