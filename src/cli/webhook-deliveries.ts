import { type Command, InvalidArgumentError } from 'commander';
import { OperatorRefusal } from '../platform/operator-refusal.ts';
import type { WebhookDeps } from '../webhooks/deps.ts';
import type { Owner } from '../webhooks/domain/owner.ts';
import { listDeliveries } from '../webhooks/list-deliveries.ts';
import { deliveryJson } from '../webhooks/present.ts';
import { replay } from '../webhooks/replay.ts';
import { sendTest } from '../webhooks/send-test.ts';
import { instant, uuid, wholeNumber } from './arguments.ts';
import { type Answer, addChanging, addReading } from './command.ts';
import { table } from './text.ts';
import { exampleEndpointId, onEndpoint, onWebhooks } from './webhook-endpoint.ts';

const exampleDelivery = {
  id: '0199d3a2-6a10-7c44-8e21-9a0b1c2d3e4f',
  eventId: '0199d3a2-5c1e-7b60-9f0e-3d1c5a7b9e02',
  type: 'payment.succeeded',
  attempt: 1,
  at: '2026-11-15T12:00:01.000Z',
  result: 'delivered',
  responseStatus: 204,
  responseBody: '',
  durationMs: 84,
  detail: null,
  nextAttemptAt: null,
};

/** What is sent to an endpoint: a test, what was sent, and what is sent once more. */
export function deliveryCommands(webhook: Command): void {
  onEndpoint(
    addChanging(webhook, 'test', {
      about: 'send a test event now and show what the receiver says',
      examples: [`tollgate webhook test merchant:SHOP1 ${exampleEndpointId}`],
      json: { delivery: exampleDelivery },
    }),
  ).action(onWebhooks(test));
  onEndpoint(
    addReading(webhook, 'deliveries', {
      about: 'show the last attempts to deliver, newest first',
      examples: [`tollgate webhook deliveries merchant:SHOP1 ${exampleEndpointId} --result failed`],
      json: { deliveries: [exampleDelivery] },
    }),
  )
    .option('--limit <count>', 'how many', wholeNumber(1, 1000), 20)
    .option('--event-id <id>', 'of this event alone', uuid)
    .option('--result <result>', 'delivered, failed or given_up', result)
    .action(onWebhooks(deliveries));
  onEndpoint(
    addChanging(webhook, 'replay', {
      about: 'send an event, or all of a time, once more',
      examples: [
        `tollgate webhook replay merchant:SHOP1 ${exampleEndpointId} --event-id ${exampleDelivery.eventId}`,
        `tollgate webhook replay merchant:SHOP1 ${exampleEndpointId} --from 2026-11-14 --to 2026-11-15`,
      ],
      json: { queued: 12 },
      more: 'Under their old ids, so that a receiver that knows them can leave them alone. The running server delivers them.',
    }),
  )
    .option('--event-id <id>', 'this event', uuid)
    .option('--from <instant>', 'all that happened from then', instant)
    .option('--to <instant>', 'up to, but not including', instant)
    .action(onWebhooks(again));
}

async function test(deps: WebhookDeps, actor: string, _: object, of: Owner, id: string): Promise<Answer> {
  const delivery = await sendTest(deps, of, id, actor);
  const delivered = delivery.result === 'delivered';
  return {
    json: { delivery: deliveryJson(delivery) },
    text: delivered
      ? `The receiver took it, with ${delivery.responseStatus}.`
      : `Not taken. ${delivery.detail}`,
    exitCode: delivered ? 0 : 1,
  };
}

async function deliveries(
  deps: WebhookDeps,
  _actor: string,
  options: { limit: number; eventId?: string; result?: string },
  of: Owner,
  id: string,
): Promise<Answer> {
  const found = await listDeliveries(deps, of, id, {
    eventId: options.eventId ?? null,
    result: options.result ?? null,
    createdFrom: null,
    createdTo: null,
    before: null,
    limit: options.limit,
  });
  const shown = found.map(deliveryJson);
  return {
    json: { deliveries: shown },
    text: table(
      ['AT', 'EVENT', 'TYPE', 'ATTEMPT', 'RESULT', 'STATUS', 'NEXT ATTEMPT', 'DETAIL'],
      shown.map((one) => [
        one.at,
        one.eventId,
        one.type,
        String(one.attempt),
        one.result,
        one.responseStatus === null ? null : String(one.responseStatus),
        one.nextAttemptAt,
        one.detail,
      ]),
    ),
  };
}

async function again(
  deps: WebhookDeps,
  actor: string,
  options: { eventId?: string; from?: Date; to?: Date },
  of: Owner,
  id: string,
): Promise<Answer> {
  const queued = await replay(deps, of, id, replayWish(options), actor);
  return { json: { queued }, text: `${queued} ${queued === 1 ? 'event is' : 'events are'} sent again.` };
}

function replayWish({ eventId, from, to }: { eventId?: string; from?: Date; to?: Date }) {
  if (eventId !== undefined && !from && !to) return { eventId };
  if (eventId === undefined && from && to && from < to) return { from, to };
  throw new OperatorRefusal('given', 'Give either --event-id, or --from and a later --to.');
}

function result(text: string): string {
  if (/^(delivered|failed|given_up)$/.test(text)) return text;
  throw new InvalidArgumentError('It takes delivered, failed or given_up.');
}
