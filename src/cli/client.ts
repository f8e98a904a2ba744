import { createHash, randomBytes, randomUUID } from 'node:crypto';
import type { Command } from 'commander';
import { merchantNotFound } from '../checkout/change-merchant.ts';
import { findMerchant } from '../checkout/store/merchants.ts';
import {
  clientNotFound,
  disableClient,
  enableClient,
  rotateClientSecret,
  updateClient,
} from '../identity/change-client.ts';
import { type Client, merchantScopes } from '../identity/domain/client.ts';
import { registerClient } from '../identity/register-client.ts';
import { findClient, listClients } from '../identity/store/clients.ts';
import { OperatorRefusal } from '../platform/operator-refusal.ts';
import { duration, visibleText } from './arguments.ts';
import { clientJson, clientText, exampleClient, statusOf } from './client-answer.ts';
import { optionOf, type SettingOptions, settingsOf, withSettings } from './client-settings.ts';
import { type Answer, addChanging, addReading, onDatabase } from './command.ts';
import type { CommandDeps } from './deps.ts';
import { progress } from './exit.ts';
import { namingOptions } from './name-options.ts';
import { readSecret } from './read-input.ts';
import { table } from './text.ts';

const dayMs = 24 * 3_600_000;

export function clientCommands(program: Command): void {
  const client = program.command('client').description('partners and merchants’ programs');
  createCommand(client);
  addReading(client, 'list', {
    about: 'list the clients, without any secret',
    examples: ['tollgate client list', 'tollgate client list --merchant SHOP1'],
    json: { clients: [exampleClient] },
  })
    .option('--merchant <merchant>', 'only those that act for this merchant')
    .action(onDatabase(list));
  addReading(client, 'show <client>', {
    about: 'show how a client is registered, without its secret',
    examples: ['tollgate client show shop'],
    json: { client: exampleClient },
  }).action(onDatabase(show));
  withSettings(
    addChanging(client, 'update <client>', {
      about: 'change how a client is registered; what is not given stays',
      examples: [
        'tollgate client update shop --redirect-uri https://shop.example/a --redirect-uri https://shop.example/b',
      ],
      json: { client: exampleClient, changed: ['redirectUris'] },
      more: 'A list is replaced by the whole of what is given. --backchannel-logout-uri none takes the address away.',
    }),
  ).action(onDatabase(update));
  addChanging(client, 'rotate-secret <client>', {
    about: 'give a client a new secret, shown once',
    examples: [
      'tollgate client rotate-secret shop',
      'tollgate client rotate-secret shop --keep-old 0 --force',
      'pass show shop | tollgate client rotate-secret shop --secret-from -',
    ],
    json: {
      clientId: 'shop',
      clientSecret: 'b0Qm3y7mJpS1n8mXo2k5o0T8tq4m1v9Zr6c2d5e8f1g',
      oldSecretValidUntil: '2026-11-16T12:00:00.000Z',
    },
    more: 'While the secret before the last one still works, another change would end it: that takes --force.',
  })
    .option(
      '--keep-old <duration>',
      'how long the old secret works beside the new one; 0 ends it now (default: 24h)',
      duration,
    )
    .option('--secret-from <file>', 'take this secret instead of making one; - is standard input')
    .option('--force', 'end a secret that still works from the change before, such as after a leak')
    .action(onDatabase(rotateSecret));
  addChanging(client, 'disable <client>', {
    about: 'shut a client out and end everything it was granted',
    examples: ['tollgate client disable shop'],
    json: { clientId: 'shop', status: 'disabled', changed: true },
    more: 'People’s tokens stop at once, the client’s own credentials and tokens within a second, on every node.',
  }).action(onDatabase(disable));
  addChanging(client, 'enable <client>', {
    about: 'let a client in again; people have to log in anew',
    examples: ['tollgate client enable shop'],
    json: { clientId: 'shop', status: 'enabled', changed: true },
    more: 'A token that the client had got for itself counts again for what is left of its few minutes.',
  }).action(onDatabase(enable));
}

function createCommand(client: Command): void {
  withSettings(
    addChanging(client, 'create <client>', {
      about: 'register a client; its secret is shown once',
      examples: [
        'tollgate client create shop --name Shop --redirect-uri https://shop.example/callback --scope "openid profile"',
        'tollgate client create shop-pos --name "Shop till" --merchant SHOP1',
      ],
      json: { client: exampleClient, clientSecret: 'b0Qm3y7mJpS1n8mXo2k5o0T8tq4m1v9Zr6c2d5e8f1g' },
      more: `A client presents its secret in the body or by HTTP Basic, as it likes. With --merchant it is a merchant's
program: unless said otherwise it has the grant client_credentials and the scopes payments, refunds and webhooks.`,
    }).requiredOption('--name <text>', 'what people see when they log in', visibleText(100)),
  )
    .option('--merchant <merchant>', 'the merchant that the client acts for')
    .option('--secret-from <file>', 'take this secret instead of making one; - is standard input')
    .action(onDatabase(create));
}

async function create(
  deps: CommandDeps,
  options: SettingOptions & { name: string; merchant?: string; secretFrom?: string },
  clientId: string,
): Promise<Answer> {
  const { merchant } = options;
  if (merchant !== undefined && !(await findMerchant(deps.db, merchant))) throw merchantNotFound(merchant);
  const secret = options.secretFrom === undefined ? newSecret() : undefined;
  const audience = options.audience ?? 'ecosystem';
  const made = {
    audience,
    grantTypes: merchant
      ? ['client_credentials' as const]
      : ['authorization_code' as const, 'refresh_token' as const],
    scopes: merchant ? [...merchantScopes] : ['openid'],
    redirectUris: [],
    postLogoutRedirectUris: [],
    backchannelLogoutUri: null,
    requirePkce: true,
    requireState: true,
    identityDocuments: audience === 'ecosystem' && merchant === undefined,
    accessTokenAlg: 'ES256' as const,
    idTokenAlg: 'ES256' as const,
    accessTokenSeconds: 300,
    refreshTokenSeconds: 1800,
    ...settingsOf(options),
    name: options.name,
    id: randomUUID(),
    clientId,
    merchantId: merchant ?? null,
    secretHash: hashOf(secret ?? readSecret(options.secretFrom ?? '', '--secret-from')),
  };
  const registered = await namingOptions(optionOf, () =>
    registerClient({ ...deps, config: deps.config.identity }, made, deps.actor),
  );
  if (!registered) {
    throw new OperatorRefusal(
      'found',
      `There is a client ${clientId} already; choose another identifier, or change it with: tollgate client update ${clientId}`,
    );
  }
  const client = await known(deps, clientId);
  return {
    json: { client: clientJson(client), clientSecret: secret ?? null },
    text: secret ? `${clientText(client)}\n\n${secretText(secret)}` : clientText(client),
  };
}

async function list(deps: CommandDeps, { merchant }: { merchant?: string }): Promise<Answer> {
  const clients = await listClients(deps.db, merchant ?? null);
  return {
    json: { clients: clients.map(clientJson) },
    text: table(
      ['CLIENT', 'NAME', 'STATUS', 'AUDIENCE', 'MERCHANT', 'SCOPES'],
      clients.map((client) => [
        client.clientId,
        client.name,
        statusOf(client),
        client.audience,
        client.merchantId,
        client.scopes,
      ]),
    ),
  };
}

async function show(deps: CommandDeps, _options: object, clientId: string): Promise<Answer> {
  const client = await known(deps, clientId);
  return { json: { client: clientJson(client) }, text: clientText(client) };
}

async function update(deps: CommandDeps, options: SettingOptions, clientId: string): Promise<Answer> {
  const changes = settingsOf(options);
  if (Object.keys(changes).length === 0) {
    throw new OperatorRefusal('given', 'Nothing to change was given; see tollgate client update --help');
  }
  const changed = await namingOptions(optionOf, () =>
    updateClient({ ...deps, config: deps.config.identity }, { clientId, actor: deps.actor, changes }),
  );
  const client = await known(deps, clientId);
  return { json: { client: clientJson(client), changed }, text: clientText(client) };
}

async function rotateSecret(
  deps: CommandDeps,
  { keepOld, secretFrom, force }: { keepOld?: number; secretFrom?: string; force?: true },
  clientId: string,
): Promise<Answer> {
  const secret = secretFrom === undefined ? newSecret() : undefined;
  const secretHash = hashOf(secret ?? readSecret(secretFrom ?? '', '--secret-from'));
  const { oldValidUntil } = await rotateClientSecret(
    { ...deps, config: deps.config.identity },
    { clientId, actor: deps.actor, secretHash, keepOldMs: keepOld ?? dayMs, force: force === true },
  );
  const oldText = oldValidUntil
    ? `The old secret works until ${oldValidUntil.toISOString()}.`
    : 'The old secret works no longer.';
  return {
    json: {
      clientId,
      clientSecret: secret ?? null,
      oldSecretValidUntil: oldValidUntil?.toISOString() ?? null,
    },
    text: secret ? `${secretText(secret)}\n${oldText}` : oldText,
  };
}

async function disable(deps: CommandDeps, _options: object, clientId: string): Promise<Answer> {
  const named = { clientId, actor: deps.actor };
  const changed = await disableClient({ ...deps, config: deps.config.identity }, named, (revoked) =>
    progress(`${revoked} grants revoked`),
  );
  return {
    json: { clientId, status: 'disabled', changed },
    text: changed ? `The client ${clientId} is shut out.` : `The client ${clientId} was shut out before.`,
  };
}

async function enable(deps: CommandDeps, _options: object, clientId: string): Promise<Answer> {
  const named = { clientId, actor: deps.actor };
  const changed = await enableClient({ ...deps, config: deps.config.identity }, named, (revoked) =>
    progress(`${revoked} grants revoked`),
  );
  return {
    json: { clientId, status: 'enabled', changed },
    text: changed ? `The client ${clientId} is let in.` : `The client ${clientId} was not shut out.`,
  };
}

async function known(deps: CommandDeps, clientId: string): Promise<Client> {
  const client = await findClient(deps.db, clientId);
  if (!client) throw clientNotFound(clientId);
  return client;
}

/** 256 bits: nobody guesses them, so a plain hash of it is enough to keep. */
function newSecret(): string {
  return randomBytes(32).toString('base64url');
}

function hashOf(secret: string): Buffer {
  return createHash('sha256').update(secret).digest();
}

function secretText(secret: string): string {
  return `client secret  ${secret}\nIt is shown this once: hand it over now.`;
}
