import fc from 'fast-check';
import { allRefusals } from '../src/app.ts';
import type { Database } from '../src/platform/db.ts';
import type { TestApp } from '../test/support/app.ts';
import { arbitraryOf } from './arbitrary.ts';
import { type Broken, breaksOf, isObject } from './break.ts';
import { faultsOf, type Hidden, type Intent } from './check.ts';
import { type OpenApi, type Operation, operationsOf } from './document.ts';
import { twists } from './hostile.ts';
import { pageOperations } from './pages.ts';
import { type Answer, curlOf, type Parts, type Request, requestOf, send } from './request.ts';
import { createWorld, type World } from './world.ts';

export type Finding = { about: string; fault: string; times: number; repeat: string; answer: string };
export type Count = { valid: number; broken: number; hostile: number; answers: Record<string, number> };
type Sent = { request: Request; intent: Intent };

/** Sends requests to every operation of the document that the service itself serves, and keeps what was wrong. */
export async function createCampaign(service: TestApp, options: { seed: number; only?: string | undefined }) {
  const base = new URL(await service.app.listen({ port: 0, host: '127.0.0.1' }));
  const document = JSON.parse((await service.app.inject('/api/openapi.json')).body) as OpenApi;
  const operations = [...operationsOf(document), ...pageOperations].filter(({ name }) =>
    name.includes(options.only ?? ''),
  );
  const world = await createWorld(service);
  const names = await namesOf(service.db, JSON.stringify([document, allRefusals]));
  const counts = new Map<string, Count>(
    operations.map(({ name }) => [name, { valid: 0, broken: 0, hostile: 0, answers: {} }]),
  );
  const findings = new Map<string, Finding>();

  function report(about: string, fault: string, repeat: string, answer: string) {
    const key = `${about}: ${fault.replace(/"[^"]*"|\d{4,}/g, '…')}`;
    const known = findings.get(key);
    if (known) known.times++;
    else findings.set(key, { about, fault, times: 1, repeat, answer: answer.slice(0, 600) });
  }

  async function deliver(operation: Operation, { request, intent }: Sent, hidden: Hidden) {
    const count = counts.get(operation.name);
    if (count) count[intent.kind]++;
    const repeat = curlOf(base, request);
    const how = intent.kind === 'valid' ? 'valid' : `${intent.kind}, ${intent.how}`;
    try {
      const answer = await send(base, request);
      countAnswer(count, answer);
      if (intent.kind === 'valid') world.learn(operation, answer);
      for (const fault of faultsOf(operation, intent, { request, answer }, hidden)) {
        report(operation.name, `${fault} (${how})`, repeat, `${answer.status} ${answer.body}`);
      }
    } catch (error) {
      report(operation.name, `no answer: ${(error as Error).message} (${how})`, repeat, '');
    }
  }

  /** Those that must be refused go together, so that what they leave behind is seen. */
  async function refuseAll(operation: Operation, refused: Sent[], hidden: Hidden) {
    const before = await rowsOf(service.db);
    await Promise.all(refused.map((sent) => deliver(operation, sent, hidden)));
    const after = await rowsOf(service.db);
    for (const [table, rows] of Object.entries(after)) {
      if (rows !== before[table]) {
        const repeat = refused.map(({ request }) => curlOf(base, request)).join('\n    ');
        report(operation.name, `refused requests changed the rows of ${table}`, repeat, '');
      }
    }
  }

  function readLog(operation: Operation, hidden: Hidden) {
    for (const line of service.logLines.splice(0)) {
      // One that was answered with "not now" is a warning.
      if (/"level":"(error|fatal)"|"level":"warn".*"err":/.test(line))
        report(operation.name, 'an error is logged', line.slice(0, 2000), '');
      const told = hidden.secrets.find((secret) => line.includes(secret));
      if (told) report(operation.name, 'a secret is logged', line, '');
    }
  }

  return {
    counts,
    findings: () => [...findings.values()],
    /** One batch of each kind to each operation. */
    async round(
      number: number,
      size: { valid: number; broken: number; hostile: number },
      signal?: AbortSignal,
    ) {
      await world.refresh();
      for (const [at, operation] of operations.entries()) {
        if (signal?.aborted) return;
        const hidden = { names, secrets: world.secrets() };
        const seed = options.seed + number * operations.length + at;
        const { valid, broken, hostile } = batchesOf(operation, world, seed, size);
        await Promise.all(valid.map((sent) => deliver(operation, sent, hidden)));
        await refuseAll(operation, [...broken, ...hostile], hidden);
        readLog(operation, hidden);
      }
    },
    close: () => world.close(),
  };
}

function countAnswer(count: Count | undefined, answer: Answer) {
  const kind = `${Math.floor(answer.status / 100)}xx`;
  if (count) count.answers[kind] = (count.answers[kind] ?? 0) + 1;
}

function batchesOf(
  operation: Operation,
  world: World,
  seed: number,
  size: { valid: number; broken: number; hostile: number },
): Record<'valid' | 'broken' | 'hostile', Sent[]> {
  const identities = world.identities(operation);
  const parts = arbitraryOf(operation.parts, world.known(operation)) as fc.Arbitrary<Parts>;
  const caller = identities.length > 0 ? fc.constantFrom(...identities) : fc.constant(undefined);
  const sample = (numRuns: number) =>
    numRuns === 0 ? [] : fc.sample(fc.tuple(parts, caller, fc.nat()), { seed, numRuns });
  const fitting = twists.filter(({ fits }) => fits(operation));
  return {
    valid: sample(size.valid).map(([given, identity]) => ({
      request: requestOf(operation, given, identity),
      intent: { kind: 'valid' },
    })),
    broken: sample(size.broken).flatMap(([given, identity, pick]) => {
      const breaks = breaksOf(operation.parts, given).filter((broken) => canBeSent(operation, broken));
      const chosen = breaks[pick % Math.max(1, breaks.length)];
      if (!chosen) return [];
      const { pointer, how, value } = chosen;
      const request = requestOf(operation, value as Parts, identity);
      return [{ request, intent: { kind: 'broken', pointer, how } }];
    }),
    hostile: sample(size.hostile).flatMap(([given, identity, pick]) => {
      const twist = fitting[pick % fitting.length];
      if (!twist) return [];
      const { how, expected } = twist;
      const request = twist.twist(requestOf(operation, given, identity));
      return [{ request, intent: { kind: 'hostile', how, expected } }];
    }),
  };
}

/** An address or a form carries text alone, and an address that lacks its id is another address. */
function canBeSent(operation: Operation, { value }: Broken): boolean {
  if (!isObject(value)) return false;
  const isText = (part: unknown) => isObject(part) && Object.values(part).every(isWholeText);
  const inPath = isObject(value.path) ? Object.values(value.path) : [];
  const hasIds = [...operation.path.matchAll(/\{/g)].length === inPath.length && !inPath.includes('');
  const isForm = operation.bodyType !== undefined && operation.bodyType !== 'application/json';
  return isText(value.path) && isText(value.query) && hasIds && (!isForm || isText(value.body));
}

function isWholeText(value: unknown): boolean {
  return typeof value === 'string' && Buffer.from(value).toString() === value;
}

const counted = [
  'checkout.payments',
  'checkout.refunds',
  'checkout.events',
  'checkout.idempotency_keys',
  'checkout.attempts',
  'checkout.ledger_entries',
  'checkout.answers',
  'webhooks.endpoints',
  'identity.sessions',
  'identity.grants',
];

async function rowsOf(db: Database): Promise<Record<string, number>> {
  const text = `select ${counted.map((table) => `(select count(*) from ${table})::int as "${table}"`).join(', ')}`;
  return db.one({ name: '', text, values: [] });
}

/** Tables and columns, but for those whose names are words of the API as well. */
async function namesOf(db: Database, spoken: string): Promise<string[]> {
  const rows = await db.many<{ name: string }>({
    name: '',
    text: `select distinct column_name as name from information_schema.columns
      where table_schema in ('checkout', 'identity', 'webhooks') and column_name like '%\\_%'
      union select table_schema || '.' || table_name from information_schema.tables
      where table_schema in ('checkout', 'identity', 'webhooks')`,
    values: [],
  });
  return rows.map(({ name }) => name).filter((name) => !spoken.includes(name));
}
