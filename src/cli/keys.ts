import type { Command } from 'commander';
import { changeKeysSecret } from '../change-keys-secret.ts';
import { inspectKeys, rotateKeys } from '../identity/keyring.ts';
import { ConfigurationFaults } from '../platform/settings.ts';
import { type Answer, addChanging, addReading, onDatabase } from './command.ts';
import type { CommandDeps } from './deps.ts';
import { progress } from './exit.ts';
import { table } from './text.ts';

const exampleKey = {
  kid: '9f0d5f64-0f3a-4a2b-8a52-6d0c6b1f4e77',
  alg: 'ES256',
  state: 'current',
  createdAt: '2026-11-01T12:00:00.000Z',
  activatesAt: '2026-11-01T12:00:00.000Z',
  signsUntil: null,
};
const exampleNext = { alg: 'ES256', at: '2026-12-01T12:00:00.000Z' };

export function keysCommands(program: Command): void {
  const keys = program.command('keys').description('the keys that sign tokens');
  addReading(keys, 'list', {
    about: 'list the signing keys and when the next ones take over',
    examples: ['tollgate keys list'],
    json: { keys: [exampleKey], next: [exampleNext] },
    more: `next: published, does not sign yet. current: signs. previous: published while its last tokens live.
kept: only checks old hints at logout. Private keys are never shown.`,
  }).action(onDatabase(list));
  addChanging(keys, 'rotate', {
    about: 'make the next signing keys now instead of when the schedule would',
    examples: ['tollgate keys rotate'],
    json: { made: [exampleKey.kid], keys: [exampleKey], next: [exampleNext] },
    more: `A new key is published at once and signs 15 minutes later, when every partner and every server has seen it. Where one
is waiting already, none is made.`,
  }).action(onDatabase(rotate));
  addChanging(keys, 'change-secret', {
    about: 'seal everything with NEW_KEYS_SECRET instead of KEYS_SECRET, while no server runs',
    examples: ['tollgate keys change-secret'],
    json: { signingKeys: 3, peopleWithDocuments: 1200, webhookEndpoints: 4 },
    more: `Signing keys, identity documents and webhook secrets stay what they are, so tokens and signatures go on being good.
Logins under way begin anew, and payment links from before lead nowhere: a shop finds the new one by reading the payment.
Backups from before still need the old secret.`,
  }).action(onDatabase(changeSecret));
}

async function list(deps: CommandDeps): Promise<Answer> {
  const { keys, next } = await inspectKeys(deps.db, deps.signingKey, deps.now());
  const keyTable = table(
    ['KEY', 'ALG', 'STATE', 'CREATED', 'SIGNS FROM', 'SIGNS UNTIL'],
    keys.map((key) => [key.kid, key.alg, key.state, key.createdAt, key.activatesAt, key.signsUntil]),
  );
  const nextTable = table(
    ['ALG', 'NEXT KEY SIGNS FROM'],
    next.map(({ alg, at }) => [alg, at]),
  );
  return {
    json: {
      keys: keys.map((key) => ({
        kid: key.kid,
        alg: key.alg,
        state: key.state,
        createdAt: key.createdAt.toISOString(),
        activatesAt: key.activatesAt.toISOString(),
        signsUntil: key.signsUntil?.toISOString() ?? null,
      })),
      next: next.map(({ alg, at }) => ({ alg, at: at?.toISOString() ?? null })),
    },
    text: `${keyTable}\n\n${nextTable}`,
  };
}

async function rotate(deps: CommandDeps): Promise<Answer> {
  const { db, now, actor } = deps;
  const made = await rotateKeys({ db, wrappingKey: deps.signingKey, now, force: true, actor });
  const after = await list(deps);
  const said =
    made.length > 0 ? `${made.length} keys made.` : 'None made: the next keys are waiting already.';
  return { json: { made, ...after.json }, text: `${said}\n\n${after.text}` };
}

async function changeSecret({ config, db, now, actor }: CommandDeps): Promise<Answer> {
  const { keysSecret: from } = config.identity;
  const to = config.newKeysSecret;
  if (to === undefined || to === from) {
    const problem = to === undefined ? 'It is not set.' : 'It is the same as KEYS_SECRET.';
    const remedy = 'Make one with: openssl rand -base64 48';
    throw new ConfigurationFaults([{ name: 'NEW_KEYS_SECRET', problem, remedy }]);
  }
  const onProgress = (people: number) => progress(`documents of ${people} people`);
  const done = await changeKeysSecret({ db, from, to, now, actor, onProgress });
  return {
    json: done,
    text: `Sealed anew: ${done.signingKeys} signing keys, the documents of ${done.peopleWithDocuments} people, the secrets of ${done.webhookEndpoints} webhook endpoints.
Start the servers with the new secret as KEYS_SECRET; the one before opens nothing any more.`,
  };
}
