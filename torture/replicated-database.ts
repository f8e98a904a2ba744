import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { appendFile, chmod, chown, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freePort } from '../test/support/free-port.ts';
import { type Scope, temporaryFolder, undoLater, until } from '../test/support/server.ts';
import { type TortureDatabase, withClient } from './database.ts';
import { killFamilies } from './processes.ts';

const execute = promisify(execFile);

type Place = { binaries: string; folder: string; runAs: { uid?: number; gid?: number } };
type Cluster = { port: number; postmaster: ChildProcess };

/** Where the system's packages keep PostgreSQL's programs; the newest version when there are several. */
export function findSystemPostgres(): string | undefined {
  const versions = (() => {
    try {
      return readdirSync('/usr/lib/postgresql');
    } catch {
      return [];
    }
  })();
  const newest = versions.map(Number).sort((left, right) => right - left)[0];
  return newest && newest >= 15 ? `/usr/lib/postgresql/${newest}/bin` : undefined;
}

/** A primary that acknowledges nothing before its standby has it, and that standby. */
export async function startReplicatedDatabase(scope: Scope, binaries: string): Promise<TortureDatabase> {
  const place = { binaries, folder: await temporaryFolder(scope), runAs: await lesserUser() };
  await chmod(place.folder, 0o711);
  let clusters = 0;
  const nextFolder = () => ownFolder(place, `cluster-${++clusters}`);

  let primary = await createPrimary(place, await nextFolder());
  let standby = await createStandby(place, primary, await nextFolder());
  undoLater(scope, async () => {
    for (const cluster of [standby, primary]) await stopNow(cluster);
  });

  return {
    url: () => urlOf(primary, 'tollgate'),
    async failOver(onPromoted) {
      await killFamilies([Number(primary.postmaster.pid)]);
      await ended(primary);
      primary = standby;
      await withClient(urlOf(primary, 'postgres'), (client) => client.query('select pg_promote()'));
      await onPromoted();
      standby = await createStandby(place, primary, await nextFolder());
    },
  };
}

async function createPrimary(place: Place, folder: string): Promise<Cluster> {
  await run(place, 'initdb', ['-D', folder, '-U', 'tollgate', '-A', 'trust', '-E', 'UTF8', '--locale=C']);
  await appendFile(
    join(folder, 'postgresql.conf'),
    "listen_addresses = '127.0.0.1'\nunix_socket_directories = ''\nmax_connections = 80\nwal_keep_size = '256MB'\n",
  );
  const cluster = await startCluster(place, folder);
  await withClient(urlOf(cluster, 'postgres'), (client) => client.query('create database tollgate'));
  return cluster;
}

/** From its return on, a commit is answered only once the standby has it on its disk. */
async function createStandby(place: Place, primary: Cluster, folder: string): Promise<Cluster> {
  const from = `host=127.0.0.1 port=${primary.port} user=tollgate application_name=standby`;
  await run(place, 'pg_basebackup', ['-D', folder, '-d', from, '-R', '-X', 'stream', '-c', 'fast']);
  const standby = await startCluster(place, folder);
  await withClient(urlOf(primary, 'postgres'), async (client) => {
    await client.query(`alter system set synchronous_standby_names = '*'`);
    await client.query('select pg_reload_conf()');
    await until('the standby is synchronous', async () => {
      const { rows } = await client.query(`select from pg_stat_replication where sync_state = 'sync'`);
      return rows.length === 1;
    });
  });
  return standby;
}

async function startCluster({ binaries, runAs }: Place, folder: string): Promise<Cluster> {
  const port = await freePort();
  const postmaster = spawn(join(binaries, 'postgres'), ['-D', folder, '-p', String(port)], {
    ...runAs,
    cwd: '/',
    env: { LC_ALL: 'C' },
    stdio: 'ignore',
    detached: true,
  });
  const cluster = { port, postmaster };
  await until('PostgreSQL answers', () =>
    withClient(urlOf(cluster, 'postgres'), async () => true).catch(() => false),
  );
  return cluster;
}

async function stopNow(cluster: Cluster): Promise<void> {
  cluster.postmaster.kill('SIGQUIT');
  await ended(cluster);
}

async function ended({ postmaster }: Cluster): Promise<void> {
  if (postmaster.exitCode === null && postmaster.signalCode === null) await once(postmaster, 'exit');
}

function urlOf({ port }: Cluster, database: string): string {
  return `postgres://tollgate@127.0.0.1:${port}/${database}?sslmode=disable`;
}

async function run({ binaries, runAs }: Place, program: string, args: string[]): Promise<void> {
  await execute(join(binaries, program), args, { ...runAs, cwd: '/', env: { LC_ALL: 'C' } });
}

async function ownFolder({ folder, runAs }: Place, name: string): Promise<string> {
  const path = join(folder, name);
  await mkdir(path, { mode: 0o700 });
  if (runAs.uid !== undefined && runAs.gid !== undefined) await chown(path, runAs.uid, runAs.gid);
  return path;
}

/** PostgreSQL does not run as root; the packages have made a user for it. */
async function lesserUser(): Promise<Place['runAs']> {
  if (process.getuid?.() !== 0) return {};
  const [uid, gid] = await Promise.all([
    execute('id', ['-u', 'postgres']),
    execute('id', ['-g', 'postgres']),
  ]);
  return { uid: Number(uid.stdout), gid: Number(gid.stdout) };
}
