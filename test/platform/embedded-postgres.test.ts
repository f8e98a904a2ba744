import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import * as fs from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import {
  DataDirInUse,
  findRunningEmbeddedPostgres,
  startEmbeddedPostgres,
} from '../../src/platform/embedded-postgres.ts';
import { fixture } from '../support/fixture.ts';

const isRoot = process.getuid?.() === 0;

test('rows stay from one start to the next, and only the owner may read the password', async (t) => {
  const dataDir = await temporaryFolder(t);
  const first = await start(t, dataDir);
  await query(first.url, 'create table kept (word text)');
  await query(first.url, `insert into kept values ('sözlər')`);
  assert.equal(await findRunningEmbeddedPostgres(dataDir), first.url);
  await first.stop();
  await first.stop();
  assert.equal(await findRunningEmbeddedPostgres(dataDir), undefined);

  const second = await start(t, dataDir);
  assert.deepEqual(await query(second.url, 'select word, upper(word) as loud from kept'), [
    { word: 'sözlər', loud: 'SÖZLƏR' },
  ]);
  const { mode } = await fs.stat(join(dataDir, 'postgres-password'));
  assert.equal(mode & 0o777, 0o600);
  const settings = await query(second.url, `select name, setting from pg_settings order by name collate "C"`);
  const of = (name: string) => settings.find((row) => row.name === name)?.setting;
  assert.equal(of('listen_addresses'), '127.0.0.1');
  assert.equal(of('unix_socket_directories'), '');
  assert.equal(of('max_connections'), '200');
  assert.deepEqual([of('fsync'), of('synchronous_commit'), of('data_checksums')], ['on', 'on', 'on']);
  assert.deepEqual(
    (await fs.readdir(dataDir)).filter((entry) => entry.startsWith('postgres.new-')),
    [],
  );
});

test('a setting given by the caller reaches PostgreSQL', async (t) => {
  const dataDir = await temporaryFolder(t);
  const database = await startEmbeddedPostgres({
    dataDir,
    log: () => undefined,
    settings: { work_mem: '7MB' },
  });
  defer(t, () => database.stop());
  assert.deepEqual(await query(database.url, 'show work_mem'), [{ work_mem: '7MB' }]);
});

test('a wrong password is refused', async (t) => {
  const database = await start(t, await temporaryFolder(t));
  const url = new URL(database.url);
  url.password = 'guess';
  await assert.rejects(query(url.href, 'select 1'), { code: '28P01' });
});

test('a second server on the same folder is refused with a sentence, and the first one works on', async (t) => {
  const dataDir = await temporaryFolder(t);
  const database = await start(t, dataDir);
  await assert.rejects(start(t, dataDir), (error) => {
    assert.ok(error instanceof DataDirInUse);
    assert.match(
      error.message,
      /^The data folder .* is in use by another running server \(process \d+\): stop/,
    );
    assert.ok(error.message.includes(dataDir) && error.message.includes('DATABASE_URL'));
    return true;
  });
  const other = await serve(t, dataDir).outcome;
  assert.match(other, /^refused DataDirInUse The data folder/);
  assert.deepEqual(await query(database.url, 'select 1 as one'), [{ one: 1 }]);
});

test('a server whose lock file was deleted is still found by the lock in its database', async (t) => {
  const dataDir = await temporaryFolder(t);
  const database = await start(t, dataDir);
  for (const entry of await fs.readdir(dataDir)) {
    if (entry.startsWith('server-lock.')) await fs.rm(join(dataDir, entry));
  }
  await assert.rejects(start(t, dataDir), DataDirInUse);
  assert.deepEqual(await query(database.url, 'select 1 as one'), [{ one: 1 }]);
});

test('a server in another container on the same folder is found by the beat of its lock', async (t) => {
  const dataDir = await temporaryFolder(t);
  const foreign = join(dataDir, 'server-lock.1.1.another-container');
  await fs.writeFile(foreign, '');
  const beat = setInterval(() => void fs.utimes(foreign, new Date(), new Date()), 200);
  defer(t, () => clearInterval(beat));
  await assert.rejects(start(t, dataDir), DataDirInUse);
  clearInterval(beat);
  await start(t, dataDir);
  assert.deepEqual(
    (await fs.readdir(dataDir)).filter((entry) => entry.endsWith('another-container')),
    [],
  );
});

test('a server that is killed, with or without its PostgreSQL, starts again with every committed row', async (t) => {
  const dataDir = await temporaryFolder(t);
  const committed = new Set<number>();
  for (let round = 0; round < 6; round++) {
    const server = serve(t, dataDir);
    const outcome = await server.outcome;
    assert.match(outcome, /^ready /, `round ${round}`);
    await sleep(Math.random() * 300);
    const postmaster = await postmasterPid(dataDir);
    if (round % 3 === 1) process.kill(postmaster, 'SIGKILL');
    server.child.kill('SIGKILL');
    if (round % 3 === 2) process.kill(postmaster, 'SIGKILL');
    await server.closed;
    for (const n of server.committed) committed.add(n);
  }
  assert.ok(committed.size > 0);
  const database = await start(t, dataDir);
  const kept = new Set((await query(database.url, 'select n from counted')).map((row) => row.n));
  assert.deepEqual(
    [...committed].filter((n) => !kept.has(n)),
    [],
  );
});

test('a server that is killed at any moment of its first start leaves nothing that breaks the next one', async (t) => {
  for (const moment of ['', 'PG_VERSION', 'base/1', 'base/4', 'base/5']) {
    const dataDir = await temporaryFolder(t);
    const server = serve(t, dataDir);
    await draftReaches(dataDir, moment);
    server.child.kill('SIGKILL');
    await server.closed;
    const database = await start(t, dataDir);
    assert.deepEqual(await query(database.url, 'select 1 as one'), [{ one: 1 }]);
    await database.stop();
  }
});

test('of two first starts at once exactly one wins, and the other is told that the folder is in use', async (t) => {
  for (let round = 0; round < 3; round++) {
    const dataDir = await temporaryFolder(t);
    const servers = [serve(t, dataDir), serve(t, dataDir)];
    const outcomes = (await Promise.all(servers.map((server) => server.outcome))).sort();
    assert.match(outcomes[0] ?? '', /^ready /);
    assert.match(outcomes[1] ?? '', /^refused DataDirInUse /);
    for (const server of servers) server.child.kill('SIGKILL');
  }
});

test('of two starts at once after a kill exactly one wins', async (t) => {
  const dataDir = await temporaryFolder(t);
  for (let round = 0; round < 4; round++) {
    const servers = [serve(t, dataDir), serve(t, dataDir), serve(t, dataDir)];
    const outcomes = (await Promise.all(servers.map((server) => server.outcome))).sort();
    assert.match(outcomes[0] ?? '', /^ready /);
    for (const outcome of outcomes.slice(1)) assert.match(outcome, /^refused DataDirInUse /);
    for (const server of servers) server.child.kill('SIGKILL');
  }
});

test('two starts at once within one process end with one server', async (t) => {
  const dataDir = await temporaryFolder(t);
  const results = await Promise.allSettled([start(t, dataDir), start(t, dataDir)]);
  assert.deepEqual(results.map((result) => result.status).sort(), ['fulfilled', 'rejected']);
  const refused = results.find((result) => result.status === 'rejected');
  assert.ok(refused?.reason instanceof DataDirInUse);
});

test('PostgreSQL that is killed comes back by itself under the same URL, and is still held', async (t) => {
  const dataDir = await temporaryFolder(t);
  const database = await start(t, dataDir);
  await query(database.url, 'create table kept (n int)');
  for (let round = 1; round <= 3; round++) {
    const killed = await postmasterPid(dataDir);
    await query(database.url, `insert into kept values (${round})`);
    process.kill(killed, 'SIGKILL');
    await until(async () => (await postmasterPid(dataDir)) !== killed);
    const counted = () => query(database.url, 'select count(*)::int as n from kept').catch(() => []);
    await until(async () => (await counted())[0]?.n === round);
  }
  await until(async () => (await findRunningEmbeddedPostgres(dataDir)) === database.url);
  await assert.rejects(start(t, dataDir), DataDirInUse);
});

test('a session of PostgreSQL that crashes takes the lock with it, and the lock comes back', async (t) => {
  const dataDir = await temporaryFolder(t);
  const database = await start(t, dataDir);
  const ownersQuery = `select pid from pg_stat_activity where application_name = 'tollgate owner'`;
  const [owner] = await query(database.url, ownersQuery);
  process.kill(Number(owner?.pid), 'SIGKILL');
  await until(async () => {
    const owners = await query(database.url, ownersQuery).catch(() => []);
    return owners.length === 1 && owners[0]?.pid !== owner?.pid;
  });
  await until(async () => (await findRunningEmbeddedPostgres(dataDir)) === database.url);
});

test('a stop in the middle of a restart ends PostgreSQL for good', async (t) => {
  const dataDir = await temporaryFolder(t);
  for (const pauseMs of [0, 60, 120]) {
    const database = await start(t, dataDir);
    process.kill(await postmasterPid(dataDir), 'SIGKILL');
    await sleep(pauseMs);
    await database.stop();
    const next = await start(t, dataDir);
    assert.deepEqual(await query(next.url, 'select 1 as one'), [{ one: 1 }]);
    await next.stop();
  }
});

test('after an immediate stop the next start recovers', async (t) => {
  const dataDir = await temporaryFolder(t);
  const database = await start(t, dataDir);
  await query(database.url, 'create table kept (n int)');
  database.stopNow();
  const next = await start(t, dataDir);
  assert.deepEqual(await query(next.url, 'select count(*)::int as n from kept'), [{ n: 0 }]);
});

test('a left-over file with the number of a living, unrelated process does not prevent a start', async (t) => {
  const dataDir = await temporaryFolder(t);
  const first = await start(t, dataDir);
  const pidFile = join(dataDir, 'postgres', 'postmaster.pid');
  const content = await fs.readFile(pidFile, 'utf8');
  await first.stop();

  const { uid, gid } = await fs.stat(join(dataDir, 'postgres'));
  const unrelated = spawn('sleep', ['600'], { cwd: '/', stdio: 'ignore', ...(isRoot ? { uid, gid } : {}) });
  defer(t, () => unrelated.kill('SIGKILL'));
  for (const stale of [content.replace(/^\d+/, String(unrelated.pid)), '']) {
    await fs.writeFile(pidFile, stale, { mode: 0o600 });
    await fs.chown(pidFile, uid, gid);
    const database = await start(t, dataDir);
    assert.deepEqual(await query(database.url, 'select 1 as one'), [{ one: 1 }]);
    await database.stop();
  }
  assert.equal(unrelated.exitCode ?? unrelated.signalCode, null);
});

test('a folder of another major version is refused and stays as it is', async (t) => {
  const dataDir = await temporaryFolder(t);
  await fs.mkdir(join(dataDir, 'postgres'));
  await fs.writeFile(join(dataDir, 'postgres', 'PG_VERSION'), '17\n');
  await assert.rejects(
    start(t, dataDir),
    /was made by PostgreSQL 17, and this release runs PostgreSQL 18: dump/,
  );
  assert.deepEqual(await fs.readdir(dataDir), ['postgres']);
  assert.deepEqual(await fs.readdir(join(dataDir, 'postgres')), ['PG_VERSION']);
});

test('a database without its password file is refused with a sentence', async (t) => {
  const dataDir = await temporaryFolder(t);
  await (await start(t, dataDir)).stop();
  await fs.rm(join(dataDir, 'postgres-password'));
  await assert.rejects(start(t, dataDir), /postgres-password is missing: restore it/);
});

test('under root a folder below a private parent works, and says where the database is', {
  skip: isRoot ? false : 'needs root',
}, async (t) => {
  const parent = await temporaryFolder(t);
  const dataDir = join(parent, 'data');
  const messages: string[] = [];
  const log = (message: string) => messages.push(message);
  const first = await startEmbeddedPostgres({ dataDir, log });
  defer(t, () => first.stop());
  const note = await fs.readFile(join(dataDir, 'postgres-is-elsewhere.txt'), 'utf8');
  const place = note.trim().split('\n').at(-1) ?? '';
  defer(t, () => removeFolder(place));
  assert.match(place, /^\/var\/lib\/tollgate\/data-/);
  assert.ok(messages.some((message) => message.includes(place)));

  await query(first.url, 'create table kept (n int)');
  assert.equal(await findRunningEmbeddedPostgres(dataDir), first.url);
  await first.stop();
  // Even when the parent is opened later, the database stays where its rows are.
  await fs.chmod(parent, 0o755);
  const second = await startEmbeddedPostgres({ dataDir, log });
  defer(t, () => second.stop());
  assert.deepEqual(await query(second.url, 'select count(*)::int as n from kept'), [{ n: 0 }]);
  await assert.rejects(start(t, dataDir), DataDirInUse);
});

test('under root, deleting the data folder begins anew even where the database is kept elsewhere', {
  skip: isRoot ? false : 'needs root',
}, async (t) => {
  const dataDir = join(await temporaryFolder(t), 'data');
  const placeOf = async () =>
    (await fs.readFile(join(dataDir, 'postgres-is-elsewhere.txt'), 'utf8')).trim().split('\n').at(-1) ?? '';
  const first = await start(t, dataDir);
  const place = await placeOf();
  defer(t, () => removeFolder(place));
  await query(first.url, 'create table kept (n int)');
  await first.stop();
  const again = await start(t, dataDir);
  assert.equal(await placeOf(), place);
  await query(again.url, 'select from kept');
  await again.stop();

  await removeFolder(dataDir);
  const anew = await start(t, dataDir);
  const newPlace = await placeOf();
  defer(t, () => removeFolder(newPlace));
  await assert.rejects(query(anew.url, 'select from kept'), { code: '42P01' });
});

test('under root two first starts at once end in one place', {
  skip: isRoot ? false : 'needs root',
}, async (t) => {
  const dataDir = join(await temporaryFolder(t), 'data');
  const outcomes = await Promise.all([serve(t, dataDir).outcome, serve(t, dataDir).outcome]);
  const note = await fs.readFile(join(dataDir, 'postgres-is-elsewhere.txt'), 'utf8');
  defer(t, () => removeFolder(note.trim().split('\n').at(-1) ?? ''));
  assert.deepEqual(outcomes.map((outcome) => outcome.split(' ', 2)[0]).sort(), ['ready', 'refused']);
  assert.deepEqual(
    (await fs.readdir(dataDir)).filter((entry) => entry.startsWith('postgres-is-elsewhere.txt.')),
    [],
  );
});

const deferred = new WeakMap<TestContext, (() => unknown)[]>();

/** Undone in reverse order, also when the test fails: first the databases stop, then their folders go. */
function defer(t: TestContext, undo: () => unknown): void {
  const undos = deferred.get(t) ?? [];
  if (undos.length === 0) {
    t.after(async () => {
      for (let next = undos.pop(); next; next = undos.pop()) await next();
    });
  }
  undos.push(undo);
  deferred.set(t, undos);
}

async function start(t: TestContext, dataDir: string) {
  const database = await startEmbeddedPostgres({ dataDir, log: () => undefined });
  defer(t, () => database.stop());
  return database;
}

/** A server in a process of its own, to be killed. */
function serve(t: TestContext, dataDir: string) {
  const child: ChildProcess = spawn(
    process.execPath,
    [fixture('platform/fixtures/embedded-server'), dataDir],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  const closed = once(child, 'close');
  defer(t, () => {
    child.kill('SIGKILL');
    return closed;
  });
  assert.ok(child.stdout);
  const lines = createInterface({ input: child.stdout });
  const committed: number[] = [];
  const outcome = new Promise<string>((resolve) => {
    lines.on('line', (line) => {
      if (line.startsWith('committed ')) committed.push(Number(line.slice('committed '.length)));
      else resolve(line);
    });
    child.once('close', (code, signal) => resolve(`ended ${code ?? signal}`));
  });
  return { child, closed, outcome, committed };
}

async function draftReaches(dataDir: string, path: string): Promise<void> {
  await until(async () => {
    const entries = await fs.readdir(dataDir);
    for (const entry of entries.filter(
      (name) => name.startsWith('postgres.new-') && name !== 'postgres.new-password',
    )) {
      const found = await fs.access(join(dataDir, entry, 'cluster', path)).then(
        () => true,
        () => false,
      );
      if (found) return true;
    }
    return entries.includes('postgres');
  }, 1);
}

async function postmasterPid(dataDir: string): Promise<number> {
  const content = await fs.readFile(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8').catch(() => '');
  return Number.parseInt(content, 10);
}

/** The limit only keeps a failing test from hanging. */
async function until(holds: () => Promise<boolean>, pauseMs = 25): Promise<void> {
  const giveUpAt = Date.now() + 120_000;
  while (!(await holds())) {
    if (Date.now() > giveUpAt) throw new Error(`never came true: ${holds}`);
    await sleep(pauseMs);
  }
}

async function query(url: string, statement: string): Promise<Record<string, unknown>[]> {
  const client = new Client(url);
  client.on('error', () => undefined);
  await client.connect();
  try {
    return (await client.query(statement)).rows;
  } finally {
    await client.end().catch(() => undefined);
  }
}

async function temporaryFolder(t: TestContext): Promise<string> {
  const folder = await fs.mkdtemp(join(tmpdir(), 'tollgate-postgres-'));
  defer(t, () => removeFolder(folder));
  return folder;
}

/** Also ends a PostgreSQL that a killed server has left in the folder. */
async function removeFolder(folder: string): Promise<void> {
  const pid = await postmasterPid(folder);
  const command = await fs.readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
  if (command.includes(folder)) process.kill(pid, 'SIGQUIT');
  await fs.rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
}
