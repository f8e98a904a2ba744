import type { Endpoint } from './domain/endpoint.ts';
import type { Delivery } from './store/deliveries.ts';

export function endpointJson(endpoint: Endpoint) {
  const disabled = endpoint.status === 'disabled' ? endpoint : null;
  return {
    id: endpoint.id,
    url: endpoint.url,
    events: endpoint.events,
    description: endpoint.description,
    status: endpoint.status,
    disabledReason: disabled?.reason ?? null,
    disabledAt: disabled?.disabledAt.toISOString() ?? null,
    failingSince: endpoint.failingSince?.toISOString() ?? null,
    previousSecretExpiresAt: endpoint.previousSecretExpiresAt?.toISOString() ?? null,
    createdAt: endpoint.createdAt.toISOString(),
  };
}

export function deliveryJson(delivery: Delivery) {
  const { deliveryId: id, at, nextAttemptAt, ...shown } = delivery;
  return { id, ...shown, at: at.toISOString(), nextAttemptAt: nextAttemptAt?.toISOString() ?? null };
}
