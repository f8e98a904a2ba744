import type { WebhookDeps } from './deps.ts';
import type { Owner } from './domain/owner.ts';
import { readEndpoint } from './endpoints.ts';
import { type Delivery, type DeliveryFilter, listDeliveries as listStored } from './store/deliveries.ts';

/** What became of the attempts to reach an endpoint, newest first. */
export async function listDeliveries(
  deps: WebhookDeps,
  owner: Owner,
  id: string,
  filter: DeliveryFilter,
): Promise<Delivery[]> {
  await readEndpoint(deps, owner, id);
  return listStored(deps.db, owner, id, filter);
}
