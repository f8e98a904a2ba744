import { execFile } from 'node:child_process';
import { createHash, randomInt } from 'node:crypto';
import { rmSync } from 'node:fs';
import * as fs from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

const execute = promisify(execFile);

export type FolderLock = { release(): void };

const lockPrefix = 'server-lock.';
const heartbeatMs = 1_000;

/**
 * One server per folder, from before the first file is written until after PostgreSQL has ended: it closes the gaps
 * in which no postmaster is there to hold an advisory lock (the first initdb, a start, a restart after a crash).
 *
 * Each server announces itself with a file whose *name* says who it is, so that no half written lock exists, and
 * looks for others after that. Of two servers at least the later one sees the other, and withdraws; when both
 * withdraw, chance tells them apart on the next try. A lock of a dead process is removed only by one who holds the
 * folder already, so nobody can remove the lock of a newcomer by mistake. With a single well-known file, which a
 * newcomer deletes when its owner is dead, the second of two newcomers would delete the lock of the first.
 */
export async function lockFolder(folder: string): Promise<FolderLock | { heldByPid: number }> {
  const name = `${lockPrefix}${process.pid}.${await processMark(process.pid)}.${await processScope()}`;
  const path = join(folder, name);
  // A process that was just killed stays visible for a moment.
  const giveUpAt = Date.now() + 2_000;

  for (;;) {
    let other = await findLivingHolder(folder, undefined);
    if (!other) {
      const announced = await announce(path);
      other = announced ? await findLivingHolder(folder, name) : { pid: process.pid };
      if (!other) break;
      if (announced) await fs.rm(path, { force: true });
    }
    if (Date.now() > giveUpAt) return { heldByPid: other.pid };
    await sleep(randomInt(20, 120));
  }

  for (const stale of await listLocks(folder)) {
    if (stale !== name) await fs.rm(join(folder, stale), { force: true });
  }
  const heartbeat = setInterval(() => {
    const now = new Date();
    void fs.utimes(path, now, now).catch(() => undefined);
  }, heartbeatMs).unref();
  return {
    release() {
      clearInterval(heartbeat);
      rmSync(path, { force: true });
    },
  };
}

/** False when this very process is starting a second server on the folder. */
async function announce(path: string): Promise<boolean> {
  try {
    await (await fs.open(path, 'wx', 0o600)).close();
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
    throw error;
  }
}

async function listLocks(folder: string): Promise<string[]> {
  return (await fs.readdir(folder)).filter((entry) => entry.startsWith(lockPrefix));
}

async function findLivingHolder(
  folder: string,
  own: string | undefined,
): Promise<{ pid: number } | undefined> {
  for (const entry of await listLocks(folder)) {
    if (entry === own) continue;
    const [pid = '', mark, scope] = entry.slice(lockPrefix.length).split('.');
    const alive =
      scope === (await processScope())
        ? (await processMark(Number(pid))) === mark
        : await hasHeartbeat(join(folder, entry));
    if (alive) return { pid: Number(pid) };
  }
  return undefined;
}

/**
 * A server in another container on the same volume cannot be seen among our processes, nor can its PostgreSQL see
 * ours, and two of them would destroy the database. There a living server is told by the beat of its lock.
 */
async function hasHeartbeat(path: string): Promise<boolean> {
  const beatAt = async () => (await fs.stat(path).catch(() => undefined))?.mtimeMs;
  const before = await beatAt();
  if (before === undefined || Date.now() - before > 30 * heartbeatMs) return false;
  await sleep(4 * heartbeatMs);
  const after = await beatAt();
  return after !== undefined && after !== before;
}

/** Tells a process from a later one with the same number. Undefined: no such process, or only its remains. */
async function processMark(pid: number): Promise<string | undefined> {
  if (process.platform === 'linux') {
    const stat = await fs.readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined);
    const fields = stat?.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (!fields || fields[0] === 'Z' || fields[0] === 'X') return undefined;
    return fields[19];
  }
  const shown = await execute('ps', ['-o', 'stat=,lstart=', '-p', String(pid)]).catch(() => undefined);
  const [state = 'Z', ...startedAt] = shown?.stdout.trim().split(/\s+/) ?? [];
  return state.startsWith('Z') ? undefined : startedAt.join('-').replaceAll(':', '-');
}

/** Process numbers mean something only within one boot of one machine and one container. */
async function processScope(): Promise<string> {
  if (process.platform !== 'linux') return process.platform;
  const boot = await fs.readFile('/proc/sys/kernel/random/boot_id', 'utf8').catch(() => '');
  const namespace = await fs.readlink('/proc/self/ns/pid').catch(() => '');
  return createHash('sha256').update(`${boot} ${namespace}`).digest('hex').slice(0, 12);
}

/** The command line of a process, its words parted and ended by spaces; empty when there is no such process. */
export async function commandOf(pid: number): Promise<string> {
  if (process.platform === 'linux') {
    const words = await fs.readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
    return words.replaceAll('\0', ' ');
  }
  const shown = await execute('ps', ['-ww', '-o', 'command=', '-p', String(pid)]).catch(() => undefined);
  return shown ? `${shown.stdout.trim()} ` : '';
}
