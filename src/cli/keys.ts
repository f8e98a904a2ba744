import type { Command } from 'commander';
import { inspectKeys, rotateKeys } from '../identity/keyring.ts';
import { type Answer, addChanging, addReading, onDatabase } from './command.ts';
import type { CommandDeps } from './deps.ts';
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
