import { readdir, readFile } from 'node:fs/promises';
import { kill } from '../test/support/server.ts';

/** kill -9 of the processes and of all their children at once, as a machine does that loses its power. */
export async function killFamilies(parents: number[]): Promise<void> {
  const families = await Promise.all(parents.map(async (pid) => [pid, ...(await childrenOf(pid))]));
  for (const pid of families.flat()) kill(pid, 'SIGKILL');
}

/** Only where there is a /proc; elsewhere the children end by themselves, soon after their postmaster. */
async function childrenOf(pid: number): Promise<number[]> {
  const threads = await readdir(`/proc/${pid}/task`).catch(() => []);
  const lists = await Promise.all(
    threads.map((thread) => readFile(`/proc/${pid}/task/${thread}/children`, 'utf8').catch(() => '')),
  );
  return lists.flatMap((list) => list.split(' ').filter(Boolean).map(Number));
}
