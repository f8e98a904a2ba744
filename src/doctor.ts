import { inspectUnsettled } from './checkout/store/unsettled.ts';
import { type Config, environment, loadConfig } from './config.ts';
import { deriveIdentityKeys } from './identity/derive-keys.ts';
import { algorithms } from './identity/domain/algorithm.ts';
import { inspectKeys } from './identity/keyring.ts';
import { listSigningKeys } from './identity/store/signing-keys.ts';
import { packageRoot, version } from './package.ts';
import { commandLimits, type Database, openDatabase, type Queryable } from './platform/db.ts';
import { askAddress } from './platform/inspect-address.ts';
import { databaseName, inspectDatabase } from './platform/inspect-database.ts';
import { inspectJobs } from './platform/inspect-jobs.ts';
import { pendingMigrations, readMigrations } from './platform/migrate.ts';
import { ConfigurationFaults } from './platform/settings.ts';

/** One thing that was looked at. A fault keeps the service from doing its work; a warning waits for somebody. */
export type Finding = {
  check: string;
  status: 'ok' | 'warning' | 'fault';
  detail: string;
  remedy: string | null;
};

/** A database that stays reachable until it is let go. */
export type HeldDatabase = { url: string; close(): Promise<void> };

/** Looks at everything that an installation needs, in the order in which one thing builds on another. */
export async function* examine(
  env: NodeJS.ProcessEnv,
  holdDatabase: (database: Config['database']) => Promise<HeldDatabase>,
): AsyncGenerator<Finding> {
  const config = yield* examineConfiguration(env);
  if (!config) return;
  let held: HeldDatabase;
  try {
    held = await holdDatabase(config.database);
  } catch (error) {
    yield fault('database', messageOf(error), 'Start the database, or correct DATABASE_URL or DATA_DIR.');
    return;
  }
  try {
    yield* examineWithDatabase(config, held.url);
  } finally {
    await held.close();
  }
}

async function* examineWithDatabase(config: Config, url: string): AsyncGenerator<Finding> {
  const migrations = yield* examineLevel(url);
  if (migrations === 'away') return;
  const db = openDatabase({ url, poolSize: 2, onConnectionError: () => {}, limits: commandLimits });
  try {
    yield* examineDatabase(db, databaseName(url));
    if (migrations === 'pending') return;
    yield* examineKeys(db, config);
    yield* examineJobs(db);
    yield* examineUnsettled(db);
    yield* examineAddresses(db, config);
  } finally {
    await db.close();
  }
}

async function* examineConfiguration(env: NodeJS.ProcessEnv): AsyncGenerator<Finding, Config | undefined> {
  try {
    const config = loadConfig(environment(env));
    const { env: name, urls } = config.server;
    yield ok('configuration', `${name}, checkout ${config.checkout.env}, ${urls.base}`);
    return config;
  } catch (error) {
    if (!(error instanceof ConfigurationFaults)) throw error;
    for (const { name, problem, remedy } of error.faults)
      yield fault('configuration', `${name}: ${problem}`, remedy);
    return undefined;
  }
}

async function* examineLevel(url: string): AsyncGenerator<Finding, 'away' | 'pending' | 'current'> {
  try {
    const known = readMigrations(new URL('migrations/', packageRoot));
    const pending = await pendingMigrations(url, known);
    if (pending.length === 0) {
      yield ok('migrations', `up to date at ${known.at(-1)?.name}`);
      return 'current';
    }
    yield fault(
      'migrations',
      `The database lacks ${pending.join(', ')}.`,
      'Start the server of this version once, which brings it up to date.',
    );
    return 'pending';
  } catch (error) {
    yield fault('database', messageOf(error), 'Mend what the sentence names, then run this again.');
    return 'away';
  }
}

const oldestServer = 150_000;
/** Codes and tokens count in seconds; more than this and they begin before they were made. */
const mostSkewMs = 2_000;

async function* examineDatabase(db: Database, name: string): AsyncGenerator<Finding> {
  const found = await inspectDatabase(db, () => new Date());
  yield found.versionNumber >= oldestServer
    ? ok('database', `${name}: PostgreSQL ${found.version} answers`)
    : fault('database', `It is PostgreSQL ${found.version}.`, 'Move to version 15 or later.');
  if (found.unsafe.length === 0) yield ok('durability', 'what was committed survives a loss of power');
  for (const { name, value, safe } of found.unsafe) {
    yield fault(
      'durability',
      `${name} is ${value}: what was committed may be lost with the power, money included.`,
      `Set ${name} = ${safe} in the configuration of PostgreSQL and reload it.`,
    );
  }
  const skew = `${Math.abs(found.clockAheadMs)} ms ${found.clockAheadMs < 0 ? 'behind' : 'ahead of'} ours`;
  yield Math.abs(found.clockAheadMs) <= mostSkewMs
    ? ok('clock', `the database's clock is ${skew}`)
    : fault('clock', `The database's clock is ${skew}.`, 'Let NTP set the clock on both machines.');
}

const hourMs = 3_600_000;

async function* examineKeys(db: Queryable, config: Config): AsyncGenerator<Finding> {
  const now = new Date();
  const { signing } = deriveIdentityKeys(config.identity.keysSecret);
  const { keys, next } = await inspectKeys(db, signing, now);
  const sealed = keys.filter((key) => !key.opens);
  if (sealed.length > 0) {
    yield fault(
      'signing keys',
      `${sealed.length} of ${keys.length} keys cannot be opened with KEYS_SECRET.`,
      'Set KEYS_SECRET to the one that the servers were started with.',
    );
    return;
  }
  for (const alg of algorithms) {
    const current = keys.find((key) => key.alg === alg && key.state === 'current');
    const nextAt = next.find((one) => one.alg === alg)?.at;
    if (!current || !nextAt) {
      yield fault(
        'signing keys',
        `There is no current ${alg} key.`,
        'Start the server, which makes the first ones.',
      );
    } else if (nextAt.getTime() + hourMs < now.getTime()) {
      yield fault(
        'signing keys',
        `The ${alg} key should have been replaced at ${nextAt.toISOString()}.`,
        'See that a server runs with JOBS=on or JOBS=only; or run: tollgate keys rotate',
      );
    } else {
      const signedForMs = Math.max(0, now.getTime() - current.activatesAt.getTime());
      const days = Math.floor(signedForMs / (24 * hourMs));
      yield ok('signing keys', `${alg} signs since ${days} days; the next from ${nextAt.toISOString()}`);
    }
  }
}

const mostLateMs = 5 * 60_000;

async function* examineJobs(db: Queryable): AsyncGenerator<Finding> {
  const now = new Date();
  const { workers, waiting, oldestDue, failed } = await inspectJobs(db, now);
  yield workers > 0
    ? ok(
        'jobs',
        `${workers} ${workers === 1 ? 'process takes' : 'processes take'} up jobs; ${waiting} waiting`,
      )
    : fault('jobs', `Nobody takes up jobs; ${waiting} waiting.`, 'Start a server with JOBS=on or JOBS=only.');
  if (oldestDue && now.getTime() - oldestDue.since.getTime() > mostLateMs) {
    yield fault(
      'jobs',
      `A job ${oldestDue.name} should have begun at ${oldestDue.since.toISOString()}.`,
      'See that a server runs with JOBS=on or JOBS=only, and what it logs about this job.',
    );
  }
  for (const { name, count, lastError } of failed) {
    yield {
      check: 'jobs',
      status: 'warning',
      detail: `${count} jobs ${name} were given up; the last one: ${(lastError ?? 'no reason kept').split('\n')[0]}`,
      remedy: 'Mend the cause; what is due later is not affected.',
    };
  }
}

async function* examineUnsettled(db: Queryable): AsyncGenerator<Finding> {
  const unsettled = await inspectUnsettled(db);
  if (unsettled.length === 0) yield ok('acquirer', 'nothing waits for an outcome');
  for (const { kind, count, oldest } of unsettled) {
    const detail = `${count} ${kind}${count === 1 ? '' : 's'} without an outcome, the oldest since ${oldest.toISOString()}`;
    yield oldest.getTime() + hourMs > Date.now()
      ? ok('acquirer', detail)
      : fault(
          'acquirer',
          `${detail}.`,
          'See that a server runs with JOBS=on or JOBS=only, and that the acquirer answers inquiries.',
        );
  }
}

const addressTimeoutMs = 5_000;
const refused = 'See that the server runs, and that name, certificate and proxy lead to it.';

async function* examineAddresses(db: Queryable, config: Config): AsyncGenerator<Finding> {
  const { base, sso, checkout } = config.server.urls;
  yield* examineAddress('BASE_URL', `${base}/.well-known/openid-configuration`, async (status, body) =>
    status === 200 && fieldOf(body, 'issuer') === base ? undefined : `it is not the issuer ${base}`,
  );
  yield* examineAddress('BASE_URL', `${base}/api/v1/openid-connect/jwks`, async (status, body) => {
    const ours = await listSigningKeys(db);
    const isOurs = status === 200 && ours.some((key) => body.includes(key.kid));
    return isOurs ? undefined : 'its signing keys are not those of this database';
  });
  yield* examineAddress('BASE_URL', `${base}/api`, async (_status, body) => {
    const found = fieldOf(body, 'version');
    return found === version ? undefined : `it is version ${String(found)}, and this is ${version}`;
  });
  yield* examineAddress('SSO_URL', `${sso}/auth/ssoValidateUser`, async (status, body) =>
    status === 400 && /<html/i.test(body)
      ? undefined
      : `it answered ${status}, not our page for a wrong request`,
  );
  yield* examineAddress('CHECKOUT_BASE_URL', `${checkout}/v1/balance`, async (status, body) =>
    status === 401 && fieldOf(body, 'code') === 'credentials_missing'
      ? undefined
      : `it answered ${status}, not our refusal without credentials`,
  );
}

async function* examineAddress(
  setting: string,
  url: string,
  wrongWith: (status: number, body: string) => Promise<string | undefined>,
): AsyncGenerator<Finding> {
  const answer = await askAddress(url, addressTimeoutMs);
  if (!answer.reached) {
    yield fault(setting, `${url} cannot be reached (${answer.reason}).`, refused);
    return;
  }
  const wrong = await wrongWith(answer.status, answer.body);
  yield wrong === undefined
    ? ok(setting, `${url} answers`)
    : fault(
        setting,
        `${url} answers, but ${wrong}.`,
        `Correct ${setting}, or what stands in front of the server.`,
      );
}

function fieldOf(body: string, field: string): unknown {
  try {
    return (JSON.parse(body) as Record<string, unknown> | null)?.[field];
  } catch {
    return undefined;
  }
}

function ok(check: string, detail: string): Finding {
  return { check, status: 'ok', detail, remedy: null };
}

function fault(check: string, detail: string, remedy: string): Finding {
  return { check, status: 'fault', detail, remedy };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message || error.name : String(error);
}
