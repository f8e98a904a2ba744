import { type RefusalTable, refuserOf } from '../platform/problem.ts';

/** Every refusal of the calls about webhooks. */
export const webhookRefusals = {
  webhook_endpoint_not_found: [404, 'No webhook endpoint with this id belongs to the caller.'],
  webhook_owner_not_found: [404, 'There is no such merchant or partner.'],
  webhook_url_not_allowed: [422, 'Nothing can be sent to this address.'],
  webhook_endpoints_exhausted: [422, 'There are sixteen webhook endpoints already; delete one first.'],
  webhook_endpoint_disabled: [409, 'The webhook endpoint is disabled; enable it first.'],
  webhook_test_in_progress: [409, 'A test of this webhook endpoint is under way.'],
  webhook_rotation_in_progress: [
    409,
    'The webhook endpoint was given a new secret within the last 24 hours; `force` ends the one before it.',
  ],
  webhook_lookups_in_progress: [
    409,
    'Sixteen addresses of the caller are being looked up; try again when they are done.',
    'retryable',
  ],
  replay_too_large: [422, 'More than 10,000 events lie in this range; ask for a shorter one.'],
  replay_queue_full: [
    409,
    'With this range more than 50,000 events would wait for the caller; ask again later.',
    'retryable',
  ],
  event_not_found: [404, 'No event with this id was told to the caller.'],
} as const satisfies RefusalTable;

export const refuse = refuserOf(webhookRefusals);
