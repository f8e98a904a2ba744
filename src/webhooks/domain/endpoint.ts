import type { Owner } from './owner.ts';

export type DisabledReason = 'requested' | 'gone' | 'failing';

type Registered = {
  owner: Owner;
  id: string;
  url: string;
  events: string[];
  description: string | null;
  failingSince: Date | null;
  previousSecretExpiresAt: Date | null;
  createdAt: Date;
};

/** An address at which somebody wants to be told of events. */
export type Endpoint =
  | (Registered & { status: 'enabled' })
  | (Registered & { status: 'disabled'; reason: DisabledReason; disabledAt: Date });

/** Nothing is queued for it any more. Why it was disabled first is what counts. */
export function disabled(endpoint: Endpoint, reason: DisabledReason, at: Date): Endpoint {
  if (endpoint.status === 'disabled') return endpoint;
  return { ...endpoint, status: 'disabled', reason, disabledAt: at };
}

/** As good as new. */
export function enabled(endpoint: Endpoint): Endpoint {
  if (endpoint.status === 'enabled') return endpoint;
  const { reason: _reason, disabledAt: _disabledAt, ...rest } = endpoint;
  return { ...rest, status: 'enabled', failingSince: null };
}

export const mostEndpoints = 16;
/** How long the secret before the current one still signs. */
export const rotationMs = 24 * 60 * 60_000;
