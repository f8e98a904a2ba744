import { type Command, InvalidArgumentError } from 'commander';
import { Registry } from 'prom-client';
import { version } from '../package.ts';
import { createLogger } from '../platform/log.ts';
import { OperatorRefusal } from '../platform/operator-refusal.ts';
import { Refusal } from '../platform/problem.ts';
import { listOwners, webhookOwners } from '../webhook-owners.ts';
import type { WebhookDeps } from '../webhooks/deps.ts';
import type { Endpoint } from '../webhooks/domain/endpoint.ts';
import { type Owner, ownerKey } from '../webhooks/domain/owner.ts';
import {
  changeEndpoint,
  createEndpoint,
  deleteEndpoint,
  disableEndpoint,
  enableEndpoint,
  listEndpoints,
  rotateSecret,
} from '../webhooks/endpoints.ts';
import { listDeliveries } from '../webhooks/list-deliveries.ts';
import { replay } from '../webhooks/replay.ts';
import { sendTest } from '../webhooks/send-test.ts';
import type { Delivery } from '../webhooks/store/deliveries.ts';
import { openWebhooks } from '../webhooks/webhooks.ts';
import { instant, uuid, visibleText, wholeNumber, words } from './arguments.ts';
import { type Answer, addChanging, addReading, onDatabase } from './command.ts';
import type { CommandDeps } from './deps.ts';
import { record, table } from './text.ts';

const endpointId = '0199d3a2-1f00-7a11-8c3d-2b6e4f8a1c01';
const exampleEndpoint = {
  id: endpointId,
  owner: 'merchant:SHOP1',
  url: 'https://shop.example/webhooks',
  events: ['payment.*', 'refund.succeeded'],
  description: null,
  status: 'enabled',
  disabledReason: null,
  failingSince: null,
  createdAt: '2026-11-15T12:00:00.000Z',
};
const exampleSecret = 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oDhWd5xVbtQVE=';
const exampleDelivery = {
  id: '0199d3a2-6a10-7c44-8e21-9a0b1c2d3e4f',
  eventId: '0199d3a2-5c1e-7b60-9f0e-3d1c5a7b9e02',
  type: 'payment.succeeded',
  attempt: 1,
  at: '2026-11-15T12:00:01.000Z',
  result: 'delivered',
  responseStatus: 204,
  detail: null,
  nextAttemptAt: null,
};
const onlyOnce = 'The secret is shown this once; what verifies our signatures has to keep it.';

export function webhookCommands(program: Command): void {
  const webhook = program
    .command('webhook')
    .description('who is told of events: merchant:ID of payments and refunds, partner:CLIENT of people');
  const onEndpoint = (command: Command) =>
    command
      .argument('<owner>', 'merchant:ID or partner:CLIENT', owner)
      .argument('<endpoint>', 'its id', uuid);

  addChanging(webhook, 'add', {
    about: 'have events sent to an address',
    examples: [
      'tollgate webhook add merchant:SHOP1 --url https://shop.example/webhooks --event payment.* --event refund.succeeded',
      'tollgate webhook add partner:shop --url https://shop.example/people',
    ],
    json: { endpoint: exampleEndpoint, secret: exampleSecret },
    more: onlyOnce,
  })
    .argument('<owner>', 'merchant:ID or partner:CLIENT', owner)
    .requiredOption('--url <address>', 'https, and reachable for the public')
    .option('--event <type>', 'a type, payment.*, or * for all; may be repeated (default: *)', words)
    .option('--description <text>', 'what it is for', visibleText(128))
    .action(onWebhooks(add));
  addReading(webhook, 'list', {
    about: 'list the addresses of a merchant or a partner, or all there are',
    examples: ['tollgate webhook list merchant:SHOP1', 'tollgate webhook list --failing'],
    json: { endpoints: [exampleEndpoint] },
  })
    .argument('[owner]', 'merchant:ID or partner:CLIENT', owner)
    .option('--failing', 'only those that fail, or were disabled because they did')
    .action(onWebhooks(list));
  onEndpoint(
    addChanging(webhook, 'update', {
      about: 'change an address or what is sent to it; what is not given stays',
      examples: [
        `tollgate webhook update partner:shop ${endpointId} --url https://shop.example/people`,
        `tollgate webhook update merchant:SHOP1 ${endpointId} --event payment.* --description none`,
      ],
      json: { endpoint: exampleEndpoint },
      more: 'The events are replaced by the whole of what is given. What waits already goes to the new address, signed as before.',
    }),
  )
    .option('--url <address>', 'https, and reachable for the public')
    .option('--event <type>', 'a type, payment.*, or * for all; may be repeated', words)
    .option('--description <text>', 'what it is for; none takes it away', visibleText(128))
    .action(onWebhooks(update));
  onEndpoint(
    addChanging(webhook, 'delete', {
      about: 'take an address away for good, with what still waits for it',
      examples: [`tollgate webhook delete partner:shop ${endpointId} --yes`],
      json: { endpointId, deleted: true },
      more: 'To stop for a while, disable it instead: then what waits is kept.',
    }),
  )
    .option('--yes', 'it is meant: this cannot be undone')
    .action(onWebhooks(remove));
  onEndpoint(
    addChanging(webhook, 'test', {
      about: 'send a test event now and show what the receiver says',
      examples: [`tollgate webhook test merchant:SHOP1 ${endpointId}`],
      json: { delivery: exampleDelivery },
    }),
  ).action(onWebhooks(test));
  onEndpoint(
    addReading(webhook, 'deliveries', {
      about: 'show the last attempts to deliver, newest first',
      examples: [`tollgate webhook deliveries merchant:SHOP1 ${endpointId} --result failed`],
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
        `tollgate webhook replay merchant:SHOP1 ${endpointId} --event-id ${exampleDelivery.eventId}`,
        `tollgate webhook replay merchant:SHOP1 ${endpointId} --from 2026-11-14 --to 2026-11-15`,
      ],
      json: { queued: 12 },
      more: 'Under their old ids, so that a receiver that knows them can leave them alone. The running server delivers them.',
    }),
  )
    .option('--event-id <id>', 'this event', uuid)
    .option('--from <instant>', 'all that happened from then', instant)
    .option('--to <instant>', 'up to, but not including', instant)
    .action(onWebhooks(again));
  onEndpoint(
    addChanging(webhook, 'rotate-secret', {
      about: 'make a new secret; for 24 hours both sign',
      examples: [`tollgate webhook rotate-secret merchant:SHOP1 ${endpointId}`],
      json: { endpoint: exampleEndpoint, secret: exampleSecret },
      more: onlyOnce,
    }),
  )
    .option('--force', 'although the secret before is still in use: it ends at once')
    .action(onWebhooks(rotate));
  for (const [verb, about] of [
    ['disable', 'send nothing more to an address; what waits is kept for a while'],
    ['enable', 'send to an address again, beginning with what waits'],
  ] as const) {
    onEndpoint(
      addChanging(webhook, verb, {
        about,
        examples: [`tollgate webhook ${verb} merchant:SHOP1 ${endpointId}`],
        json: { endpoint: exampleEndpoint },
      }),
    ).action(
      onWebhooks(async (deps, actor, _options: object, of: Owner, id: string) => {
        const change = verb === 'disable' ? disableEndpoint : enableEndpoint;
        const endpoint = await change(deps, of, id, actor);
        return { json: { endpoint: shownEndpoint(endpoint) }, text: `The endpoint is ${endpoint.status}.` };
      }),
    );
  }
}

/** Nothing is wrong with what was asked for; it cannot be done as things stand. */
const asThingsStand = ['webhook_endpoints_exhausted', 'replay_too_large'];

type Work<Options extends object, Args extends unknown[]> = (
  deps: WebhookDeps,
  actor: string,
  options: Options,
  ...args: Args
) => Promise<Answer>;

/** What the area refuses is told as the command line tells things. */
function onWebhooks<Options extends object, Args extends unknown[]>(work: Work<Options, Args>) {
  return onDatabase(async (deps: CommandDeps, options: Options, ...args: Args) => {
    const { deps: webhooks } = openWebhooks({
      config: deps.config.webhooks,
      version,
      db: deps.db,
      log: createLogger({ level: 'silent' }),
      registry: new Registry(),
      now: deps.now,
      ...webhookOwners(deps.db),
    });
    try {
      return await work(webhooks, deps.actor, options, ...args);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      const faults = error.errors?.map((fault) => fault.detail).join(' ');
      const isGiven = (error.status === 400 || error.status === 422) && !asThingsStand.includes(error.code);
      throw new OperatorRefusal(isGiven ? 'given' : 'found', faults ?? error.detail ?? error.title);
    }
  });
}

async function add(
  deps: WebhookDeps,
  actor: string,
  options: { url: string; event?: string[]; description?: string },
  of: Owner,
): Promise<Answer> {
  const { url, event, description } = options;
  const wish = { url, ...(event ? { events: event } : {}), ...(description ? { description } : {}) };
  return withSecret(await createEndpoint(deps, of, wish, actor));
}

async function list(
  deps: WebhookDeps,
  _actor: string,
  { failing }: { failing?: true },
  of: Owner | undefined,
): Promise<Answer> {
  const endpoints: ReturnType<typeof shownEndpoint>[] = [];
  for (const one of of ? [of] : await listOwners(deps.db)) {
    const found = await listEndpoints(deps, one);
    endpoints.push(...found.filter((endpoint) => !failing || isFailing(endpoint)).map(shownEndpoint));
  }
  return {
    json: { endpoints },
    text: table(
      ['ENDPOINT', 'OWNER', 'STATUS', 'BECAUSE', 'URL', 'EVENTS', 'FAILING SINCE'],
      endpoints.map((one) => [
        one.id,
        one.owner,
        one.status,
        one.disabledReason,
        one.url,
        one.events,
        one.failingSince,
      ]),
    ),
  };
}

function isFailing(endpoint: Endpoint): boolean {
  if (endpoint.status === 'disabled') return endpoint.reason !== 'requested';
  return endpoint.failingSince !== null;
}

async function update(
  deps: WebhookDeps,
  actor: string,
  options: { url?: string; event?: string[]; description?: string },
  of: Owner,
  id: string,
): Promise<Answer> {
  const { url, event, description } = options;
  const changes = {
    ...(url === undefined ? {} : { url }),
    ...(event ? { events: event } : {}),
    ...(description === undefined ? {} : { description: description === 'none' ? null : description }),
  };
  if (Object.keys(changes).length === 0) {
    throw new OperatorRefusal('given', 'Nothing to change was given; see tollgate webhook update --help');
  }
  const shown = shownEndpoint(await changeEndpoint(deps, of, id, changes, actor));
  const { owner, events, status } = shown;
  return {
    json: { endpoint: shown },
    text: record({ endpoint: id, owner, url: shown.url, events, description: shown.description, status }),
  };
}

async function remove(
  deps: WebhookDeps,
  actor: string,
  { yes }: { yes?: true },
  of: Owner,
  id: string,
): Promise<Answer> {
  if (!yes) throw new OperatorRefusal('given', 'A deletion cannot be undone; add --yes when it is meant.');
  await deleteEndpoint(deps, of, id, actor);
  return { json: { endpointId: id, deleted: true }, text: 'The endpoint is deleted.' };
}

async function test(deps: WebhookDeps, actor: string, _: object, of: Owner, id: string): Promise<Answer> {
  const delivery = await sendTest(deps, of, id, actor);
  const delivered = delivery.result === 'delivered';
  return {
    json: { delivery: shownDelivery(delivery) },
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
  const shown = found.map(shownDelivery);
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

async function rotate(
  deps: WebhookDeps,
  actor: string,
  options: { force?: true },
  of: Owner,
  id: string,
): Promise<Answer> {
  return withSecret(await rotateSecret(deps, of, id, actor, { force: options.force ?? false }));
}

function withSecret({ endpoint, secret }: { endpoint: Endpoint; secret: string }): Answer {
  const shown = shownEndpoint(endpoint);
  return {
    json: { endpoint: shown, secret },
    text: `${record({ endpoint: shown.id, owner: shown.owner, url: shown.url, events: shown.events, secret })}\n\n${onlyOnce}`,
  };
}

function shownEndpoint(endpoint: Endpoint) {
  return {
    id: endpoint.id,
    owner: ownerKey(endpoint.owner),
    url: endpoint.url,
    events: endpoint.events,
    description: endpoint.description,
    status: endpoint.status,
    disabledReason: endpoint.status === 'disabled' ? endpoint.reason : null,
    failingSince: endpoint.failingSince?.toISOString() ?? null,
    createdAt: endpoint.createdAt.toISOString(),
  };
}

function shownDelivery(delivery: Delivery) {
  return {
    id: delivery.deliveryId,
    eventId: delivery.eventId,
    type: delivery.type,
    attempt: delivery.attempt,
    at: delivery.at.toISOString(),
    result: delivery.result,
    responseStatus: delivery.responseStatus,
    detail: delivery.detail,
    nextAttemptAt: delivery.nextAttemptAt?.toISOString() ?? null,
  };
}

function owner(text: string): Owner {
  const [, kind, id] = /^(merchant|partner):([A-Za-z0-9._-]{1,64})$/.exec(text) ?? [];
  if (!kind || !id) throw new InvalidArgumentError('It takes merchant:ID or partner:CLIENT.');
  return { kind: kind as Owner['kind'], id };
}

function result(text: string): string {
  if (/^(delivered|failed|given_up)$/.test(text)) return text;
  throw new InvalidArgumentError('It takes delivered, failed or given_up.');
}
