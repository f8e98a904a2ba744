/** What processes have used so far, as Linux counts it: processor time, and memory with shared pages counted once. */
import { readdirSync, readFileSync } from 'node:fs';

export type Usage = { cpuMs: number; memoryBytes: number };

/** Linux shows times to programs in hundredths of a second, whatever the kernel's own clock is. */
const msPerTick = 10;

/** Children that have ended stand in the account of their parent, so that none of their time is lost. */
export function usageOf(pids: number[]): Usage {
  let ticks = 0;
  let memoryKb = 0;
  let sharedKb = 0;
  for (const pid of pids) {
    const fields = statOf(pid);
    const status = readProc(pid, 'status');
    if (!fields || status === undefined) continue;
    for (const field of fields.slice(11, 15)) ticks += Number(field);
    memoryKb += kilobytes(status, 'RssAnon');
    sharedKb = Math.max(sharedKb, kilobytes(status, 'RssFile') + kilobytes(status, 'RssShmem'));
  }
  return { cpuMs: ticks * msPerTick, memoryBytes: (memoryKb + sharedKb) * 1024 };
}

/** A process and all that came from it. */
export function treeOf(root: number): number[] {
  const parents = new Map<number, number>();
  for (const entry of readdirSync('/proc')) {
    const fields = /^\d+$/.test(entry) ? statOf(Number(entry)) : undefined;
    if (fields) parents.set(Number(entry), Number(fields[1]));
  }
  const isBelow = (pid: number | undefined): boolean =>
    pid === root || (pid !== undefined && pid > 1 && isBelow(parents.get(pid)));
  return [...parents.keys()].filter(isBelow);
}

/** The database that this process has started: its postmaster and every connection. */
export function ownDatabase(): number[] {
  return treeOf(process.pid).filter((pid) => readProc(pid, 'comm')?.startsWith('postgres'));
}

/** Everything after the name, which may itself hold spaces: the state comes first, then the parent. */
function statOf(pid: number): string[] | undefined {
  const text = readProc(pid, 'stat');
  return text?.slice(text.lastIndexOf(')') + 2).split(' ');
}

function kilobytes(status: string, field: string): number {
  return Number(new RegExp(`^${field}:\\s+(\\d+)`, 'm').exec(status)?.[1] ?? 0);
}

function readProc(pid: number, file: string): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    // It has ended in the meantime.
    return undefined;
  }
}
