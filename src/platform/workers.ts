import cluster, { type Worker } from 'node:cluster';
import { once } from 'node:events';
import {
  AggregatorRegistry,
  type MetricObjectWithValues,
  type MetricValue,
  type Registry,
} from 'prom-client';
import type { Logger } from './log.ts';

export type Workers = { drain(): void; stop(): Promise<void>; metricsText(): Promise<string> };

type Figures = MetricObjectWithValues<MetricValue<string>>[];
type Command = 'drain' | 'stop' | 'metrics';

/** Runs `count` processes of this program on one port, and a new one for each that dies. */
export async function startWorkers(options: {
  count: number;
  env: Record<string, string>;
  registry: Registry;
  log: Logger;
}): Promise<Workers> {
  const { log, registry } = options;
  let stopping = false;

  const fork = (): Worker => {
    const worker = cluster.fork(options.env);
    const since = Date.now();
    worker.on('exit', (code, signal) => {
      if (stopping) return;
      log.error({ worker: worker.process.pid, exitCode: code, signal }, 'worker died; starting another');
      // One that cannot even start must not be tried in a tight loop.
      setTimeout(() => stopping || fork(), Date.now() - since < 5_000 ? 1_000 : 0);
    });
    return worker;
  };
  const begin = () =>
    new Promise<void>((resolve, reject) => {
      const worker = fork();
      worker.once('listening', () => resolve());
      worker.once('exit', () => reject(new Error('a worker could not start; its own message tells why')));
    });
  try {
    // The first alone: what keeps it from starting, such as a port in use, would keep them all, and is told once.
    await begin();
    await Promise.all(Array.from({ length: options.count - 1 }, begin));
  } catch (error) {
    stopping = true;
    throw error;
  }

  return {
    drain() {
      for (const worker of living()) tell(worker, 'drain');
    },
    async stop() {
      stopping = true;
      await Promise.all(
        living().map(async (worker) => {
          const gone = once(worker, 'exit');
          tell(worker, 'stop');
          await gone;
        }),
      );
    },
    async metricsText() {
      const figures = await Promise.all([registry.getMetricsAsJSON(), ...living().map(figuresOf)]);
      return AggregatorRegistry.aggregate(figures).metrics();
    },
  };
}

/** The worker's side: it stops when it is told to or when its primary is gone, and gives its figures when asked. */
export function followPrimary(options: {
  drain: () => void;
  stop: () => void;
  registry: () => Registry | undefined;
}): void {
  // Node's own listener, which is there already, would exit at once in the middle of requests, unless this is set.
  process.prependListener('disconnect', () => {
    if (cluster.worker) cluster.worker.exitedAfterDisconnect = true;
    options.stop();
  });
  process.on('message', async (command: Command) => {
    if (command === 'drain') options.drain();
    if (command === 'stop') options.stop();
    if (command === 'metrics')
      process.send?.({ figures: (await options.registry()?.getMetricsAsJSON()) ?? [] });
  });
}

function living(): Worker[] {
  return Object.values(cluster.workers ?? {}).filter((worker) => worker?.isConnected() === true) as Worker[];
}

function tell(worker: Worker, command: Command): void {
  worker.send(command);
}

/** A worker that is busy or dying must not hold up the others' figures. */
async function figuresOf(worker: Worker): Promise<Figures> {
  const answer = once(worker, 'message', { signal: AbortSignal.timeout(2_000) });
  tell(worker, 'metrics');
  return answer.then(
    ([message]) => (message as { figures: Figures }).figures,
    () => [],
  );
}
