import type { WebhookDeps } from './deps.ts';
import { type Owner, ownerKey } from './domain/owner.ts';
import { refuse } from './errors.ts';
import { send } from './send.ts';
import { type Delivery, insertDelivery } from './store/deliveries.ts';
import { findEndpointWithSecrets } from './store/endpoints.ts';

/** One at a time for each endpoint: the caller waits for the receiver, and so would a thousand callers. */
const underWay = new Set<string>();

/** Sends an event of the type `webhook.test` and waits for the answer. It is not tried again. */
export async function sendTest(
  deps: WebhookDeps,
  owner: Owner,
  id: string,
  actor: string,
): Promise<Delivery> {
  const found = await findEndpointWithSecrets(deps.db, owner, id);
  if (!found) throw refuse('webhook_endpoint_not_found');
  if (underWay.has(id)) throw refuse('webhook_test_in_progress');
  underWay.add(id);
  try {
    const at = deps.now();
    const eventId = deps.newId();
    const type = 'webhook.test';
    const { url } = found.endpoint;
    const data = { object: { id, url } };
    const body = JSON.stringify({ id: eventId, type, timestamp: at.toISOString(), data });
    const answer = await send(deps, { endpointId: id, url, secrets: found.secrets, eventId, body });
    const delivery: Delivery = {
      deliveryId: deps.newId(),
      eventId,
      type,
      attempt: 1,
      at,
      result: answer.delivered ? 'delivered' : 'given_up',
      responseStatus: answer.status,
      responseBody: answer.body,
      durationMs: answer.durationMs,
      detail: answer.detail,
      nextAttemptAt: null,
    };
    await deps.db.transaction(async (tx) => {
      await insertDelivery(tx, owner, id, delivery);
      const details = { owner: ownerKey(owner), endpointId: id, result: delivery.result };
      await deps.audit(tx, { at, actor, action: 'webhook.tested', details });
    });
    return delivery;
  } finally {
    underWay.delete(id);
  }
}
