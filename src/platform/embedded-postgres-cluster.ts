import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import * as fs from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import {
  type Binaries,
  type Home,
  ifMissing,
  postgresEnvironment,
  type RunAs,
  syncFolder,
} from './embedded-postgres-files.ts';
import { StartRefused } from './start-refused.ts';

const execute = promisify(execFile);

/** Makes the database on the first start, and returns its password. */
export async function prepareCluster(home: Home, runAs: RunAs, binaries: Binaries): Promise<string> {
  const version = await fs.readFile(join(home.cluster, 'PG_VERSION'), 'utf8').catch(ifMissing(undefined));
  if (version !== undefined && version.trim() !== binaries.majorVersion) {
    throw new StartRefused(
      `The database in ${home.cluster} was made by PostgreSQL ${version.trim()}, and this release runs PostgreSQL ${binaries.majorVersion}: dump it with the release that made it, and restore the dump into a new data folder.`,
    );
  }
  await sweepDrafts(home.folder);

  const kept = (await fs.readFile(home.passwordFile, 'utf8').catch(ifMissing(''))).trim();
  if (version === undefined) {
    const password = kept || (await createPassword(home));
    await initialize(home, runAs, binaries, password);
    return password;
  }
  if (!kept)
    throw new StartRefused(
      `The file ${home.passwordFile} is missing: restore it together with ${home.cluster}.`,
    );
  // A folder that root has restored from a backup belongs to root.
  if (runAs.uid !== undefined && (await fs.stat(home.cluster)).uid === 0) {
    await execute('chown', ['-R', '-h', `${runAs.uid}:${runAs.gid}`, home.cluster]);
  }
  return kept;
}

const draftPrefix = 'postgres.new-';

/** What a start that was killed has left. Its initdb may still be writing there: then the next start sweeps again. */
async function sweepDrafts(folder: string): Promise<void> {
  for (const entry of await fs.readdir(folder)) {
    if (!entry.startsWith(draftPrefix)) continue;
    await fs.rm(join(folder, entry), { recursive: true, force: true, maxRetries: 3 }).catch(() => undefined);
  }
}

async function createPassword(home: Home): Promise<string> {
  const password = randomBytes(32).toString('base64url');
  const draft = join(home.folder, `${draftPrefix}password`);
  await fs.writeFile(draft, `${password}\n`, { mode: 0o600, flush: true });
  await fs.rename(draft, home.passwordFile);
  await syncFolder(home.folder);
  return password;
}

/** The cluster appears under its name at once and whole, so that a start may be killed at any moment. */
async function initialize(
  home: Home,
  { uid, gid }: RunAs,
  binaries: Binaries,
  password: string,
): Promise<void> {
  const draft = await fs.mkdtemp(join(home.folder, draftPrefix));
  try {
    // The password file itself is root's when root runs the server; initdb reads a copy.
    const passwordCopy = join(draft, 'password');
    await fs.writeFile(passwordCopy, password, { mode: 0o600 });
    if (uid !== undefined && gid !== undefined) {
      await fs.chown(passwordCopy, uid, gid);
      await fs.chown(draft, uid, gid);
    }
    await execute(
      binaries.initdb,
      [
        ...['--pgdata', join(draft, 'cluster'), '--username', 'tollgate', '--pwfile', passwordCopy],
        ...['--auth', 'scram-sha-256', '--encoding', 'UTF8', '--locale', 'C'],
        // The order and case of texts then do not change with the system's C library.
        ...['--locale-provider', 'builtin', '--builtin-locale', 'C.UTF-8'],
      ],
      { uid, gid, cwd: '/', env: postgresEnvironment() },
    );
    await fs.rename(join(draft, 'cluster'), home.cluster);
    await syncFolder(home.folder);
  } catch (error) {
    const reason = error instanceof Error ? error.message.trim() : String(error);
    throw new StartRefused(`The database could not be created in ${home.cluster}: ${reason}`, {
      cause: error,
    });
  } finally {
    await fs.rm(draft, { recursive: true, force: true, maxRetries: 3 });
  }
}
