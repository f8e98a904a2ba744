import * as checkoutEvents from './checkout/store/events.ts';
import { findMerchant } from './checkout/store/merchants.ts';
import { writeAudit } from './identity/store/audit.ts';
import { findClient } from './identity/store/clients.ts';
import * as identityEvents from './identity/store/events.ts';
import type { Database } from './platform/db.ts';
import type { EventSource, WebhookDeps } from './webhooks/deps.ts';

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

function sourceOf(events: typeof checkoutEvents | typeof identityEvents): EventSource {
  return { payload: events.findEventPayload, find: events.findEventKey, list: events.listEventKeys };
}
