import type { Command } from 'commander';
import { OperatorRefusal } from '../platform/operator-refusal.ts';
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
import { endpointJson } from '../webhooks/present.ts';
import { listOwners } from '../webhooks/store/endpoints.ts';
import { visibleText, words } from './arguments.ts';
import { type Answer, addChanging, addReading } from './command.ts';
import { record, table } from './text.ts';
import { deliveryCommands } from './webhook-deliveries.ts';
import { exampleEndpointId, onEndpoint, onWebhooks, owner } from './webhook-endpoint.ts';

const exampleEndpoint = {
  id: exampleEndpointId,
  owner: 'merchant:SHOP1',
  url: 'https://shop.example/webhooks',
  events: ['payment.*', 'refund.succeeded'],
  description: null,
  status: 'enabled',
  disabledReason: null,
  disabledAt: null,
  failingSince: null,
  previousSecretExpiresAt: null,
  createdAt: '2026-11-15T12:00:00.000Z',
};
const exampleSecret = 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oDhWd5xVbtQVE=';
const onlyOnce = 'The secret is shown this once; what verifies our signatures has to keep it.';

export function webhookCommands(program: Command): void {
  const webhook = program
    .command('webhook')
    .description('who is told of events: merchant:ID of payments and refunds, partner:CLIENT of people');

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
        `tollgate webhook update partner:shop ${exampleEndpointId} --url https://shop.example/people`,
        `tollgate webhook update merchant:SHOP1 ${exampleEndpointId} --event payment.* --description none`,
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
      examples: [`tollgate webhook delete partner:shop ${exampleEndpointId} --yes`],
      json: { endpointId: exampleEndpointId, deleted: true },
      more: 'To stop for a while, disable it instead: then what waits is kept.',
    }),
  )
    .option('--yes', 'it is meant: this cannot be undone')
    .action(onWebhooks(remove));
  deliveryCommands(webhook);
  onEndpoint(
    addChanging(webhook, 'rotate-secret', {
      about: 'make a new secret; for 24 hours both sign',
      examples: [`tollgate webhook rotate-secret merchant:SHOP1 ${exampleEndpointId}`],
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
        examples: [`tollgate webhook ${verb} merchant:SHOP1 ${exampleEndpointId}`],
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
      ['ENDPOINT', 'OWNER', 'STATUS', 'BECAUSE', 'DISABLED AT', 'URL', 'EVENTS', 'FAILING SINCE'],
      endpoints.map((one) => [
        one.id,
        one.owner,
        one.status,
        one.disabledReason,
        one.disabledAt,
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
  const { id, ...shown } = endpointJson(endpoint);
  return { id, owner: ownerKey(endpoint.owner), ...shown };
}
