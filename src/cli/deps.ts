import { existsSync } from 'node:fs';
import { hostname, userInfo } from 'node:os';
import { resolve } from 'node:path';
import { otherSecret } from '../change-keys-secret.ts';
import { confirmationKeyOf } from '../checkout/confirmation-url.ts';
import type { CheckoutDeps } from '../checkout/deps.ts';
import { type Config, type DatabaseConfig, environment, loadConfig } from '../config.ts';
import type { HeldDatabase } from '../doctor.ts';
import { deriveIdentityKeys } from '../identity/derive-keys.ts';
import type { UserId } from '../identity/domain/user.ts';
import { inspectKeys } from '../identity/keyring.ts';
import { survivorOf } from '../identity/store/users.ts';
import type { UserDeps } from '../identity/users.ts';
import { packageRoot } from '../package.ts';
import { commandLimits, type Database, openDatabase } from '../platform/db.ts';
import {
  type EmbeddedPostgres,
  findRunningEmbeddedPostgres,
  startEmbeddedPostgres,
} from '../platform/embedded-postgres.ts';
import { databaseName } from '../platform/inspect-database.ts';
import { pendingMigrations, readMigrations } from '../platform/migrate.ts';
import type { PurposeKey } from '../platform/seal.ts';
import { StartRefused } from '../platform/start-refused.ts';
import { uuid7 } from '../platform/uuid7.ts';
import { progress, progressDone } from './exit.ts';

/** What a command works with: the server's settings, its database, and who is asking. */
export type CommandDeps = {
  config: Config;
  url: string;
  /** The same for people to see, without the password. */
  where: string;
  db: Database;
  now: () => Date;
  actor: string;
  users: UserDeps;
  signingKey: PurposeKey;
  checkout: Pick<CheckoutDeps, 'db' | 'now' | 'newId' | 'checkoutUrl' | 'confirmationKey' | 'survivorOf'>;
};

/** Reads the settings, opens the database for as long as the work takes, and makes sure that it is ours to use. */
export async function withDeps<Result>(
  actor: string | undefined,
  work: (deps: CommandDeps) => Promise<Result>,
): Promise<Result> {
  const config = loadConfig(environment(process.env));
  const held = await holdDatabase(config.database);
  try {
    await refuseOtherLevel(held.url);
    const db = openDatabase({
      url: held.url,
      poolSize: 3,
      onConnectionError: () => {},
      limits: commandLimits,
    });
    const deps = commandDeps(config, held.url, db, actor ?? defaultActor());
    return await work(deps).finally(() => db.close());
  } finally {
    await held.close();
  }
}

function commandDeps(config: Config, url: string, db: Database, actor: string): CommandDeps {
  const now = () => new Date();
  const keys = deriveIdentityKeys(config.identity.keysSecret);
  const newUserId = () => crypto.randomUUID() as UserId;
  return {
    config,
    url,
    where: databaseName(url),
    db,
    now,
    actor,
    users: { db, now, newUserId, documentsKey: keys.documents },
    signingKey: keys.signing,
    checkout: {
      db,
      now,
      newId: () => uuid7(now()),
      checkoutUrl: config.server.urls.checkout,
      confirmationKey: confirmationKeyOf(config.checkout.keysSecret),
      survivorOf,
    },
  };
}

async function refuseOtherLevel(url: string): Promise<void> {
  const pending = await pendingMigrations(url, readMigrations(new URL('migrations/', packageRoot)));
  if (pending.length > 0) {
    throw new StartRefused(
      `The database lacks ${pending.join(', ')}; start the server of this version once, which brings it up to date.`,
    );
  }
}

/** What another secret has sealed no server could open; and who looks stays connected, so that nobody changes it meanwhile. */
export async function refuseOtherSecret({ db, signingKey, now }: CommandDeps): Promise<void> {
  const { keys } = await inspectKeys(db, signingKey, now());
  if (keys.some((key) => !key.opens)) throw otherSecret();
}

/** The server's database; one that is embedded and not running is started, and runs until it is closed. */
export async function holdDatabase(database: DatabaseConfig): Promise<HeldDatabase> {
  const running = { close: async () => {} };
  if (database.url) return { ...running, url: database.url };
  const dataDir = resolve(database.dataDir);
  if (!existsSync(dataDir)) {
    throw new Error(
      `There is no database in ${dataDir}; start the server once, which makes it, or set DATA_DIR.`,
    );
  }
  const url = await findRunningEmbeddedPostgres(dataDir);
  if (url) return { ...running, url };
  progress('starting the database');
  const started = await startEmbeddedPostgres({ dataDir, log: progress });
  const leave = endWithSignals(started);
  progressDone();
  const close = async () => {
    leave();
    await started.stop();
  };
  return { url: started.url, close };
}

/** A command that is broken off takes the database that it started along; what was not committed never happened. */
function endWithSignals(started: EmbeddedPostgres): () => void {
  const end = () => {
    started.stopNow();
    process.exit(130);
  };
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  for (const signal of signals) process.once(signal, end);
  return () => {
    for (const signal of signals) process.removeListener(signal, end);
  };
}

function defaultActor(): string {
  return `cli:${userName()}@${hostname()}`.slice(0, 100);
}

/** A container may run under a number that no user has. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return String(process.getuid?.() ?? 'unknown');
  }
}
