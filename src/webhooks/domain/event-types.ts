import type { Owner } from './owner.ts';

/** Every event there is, by who is told of it. */
export const eventTypes = {
  merchant: [
    'payment.created',
    'payment.updated',
    'payment.attempt_failed',
    'payment.waiting_for_capture',
    'payment.succeeded',
    'payment.canceled',
    'refund.created',
    'refund.succeeded',
    'refund.canceled',
  ],
  partner: ['session.ended', 'user.merged', 'user.updated', 'user.deactivated', 'user.reactivated'],
} as const satisfies Record<Owner['kind'], readonly string[]>;

/** What an endpoint may ask for: everything, everything about one kind of object, or single types. */
export function eventFilters(kind: Owner['kind']): string[] {
  const types: readonly string[] = eventTypes[kind];
  return ['*', ...new Set(types.map((type) => `${type.split('.')[0]}.*`)), ...types];
}

/** The same rule as in the database, where events are queued. */
export function isWanted(filters: readonly string[], type: string): boolean {
  return [`${type.split('.')[0]}.*`, type, '*'].some((filter) => filters.includes(filter));
}
