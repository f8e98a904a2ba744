import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket, connect as startConnect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

/**
 * `pass`: bytes flow. `freeze`: connections are taken and kept, but nothing flows, as with a stopped machine.
 * `reset`: every connection is taken and torn. `refuse`: nobody listens.
 */
export type ProxyMode = 'pass' | 'freeze' | 'reset' | 'refuse';

export type TcpProxy = {
  port: number;
  become(mode: ProxyMode): Promise<void>;
  /** Every byte arrives so much later, in either direction, as on a long or a bad line. */
  delayBy(ms: number): void;
  /** Connections made from now on go there. */
  leadTo(port: number): void;
  close(): Promise<void>;
};

/** A stretch of network between a client and a server on this machine that a test can break. */
export async function startTcpProxy(target: number): Promise<TcpProxy> {
  const pairs = new Set<Pair>();
  let mode: ProxyMode = 'pass';
  let targetPort = target;
  let latencyMs = 0;

  const server = createServer({ pauseOnConnect: true, allowHalfOpen: true }, (near) => {
    if (mode === 'reset') {
      near.on('error', () => {});
      near.resetAndDestroy();
      return;
    }
    const pair = openPair(near, targetPort, () => latencyMs);
    pairs.add(pair);
    pair.far.once('close', () => pairs.delete(pair));
    if (mode === 'pass') pair.flow(true);
  });
  const port = await listenOn(server, 0);

  return {
    port,
    async become(next) {
      const wasListening = mode !== 'refuse';
      mode = next;
      if (next === 'reset' || next === 'refuse') for (const pair of pairs) pair.tear();
      if (next === 'refuse' && wasListening) {
        server.close();
        await once(server, 'close');
      }
      if (next !== 'refuse' && !wasListening) await listenOn(server, port);
      for (const pair of pairs) pair.flow(next === 'pass');
    },
    delayBy(ms) {
      latencyMs = ms;
    },
    leadTo(next) {
      targetPort = next;
    },
    async close() {
      for (const pair of pairs) pair.tear();
      if (!server.listening) return;
      server.close();
      await once(server, 'close');
    },
  };
}

type Pair = { far: Socket; flow(on: boolean): void; tear(): void };

/** Passes on bytes and ends by hand: `pipe` would resume by itself what a freeze has paused. */
function openPair(near: Socket, port: number, latencyMs: () => number): Pair {
  const far = startConnect({ port, host: '127.0.0.1', allowHalfOpen: true });
  far.pause();
  for (const [from, to] of [
    [near, far],
    [far, near],
  ] as const) {
    const later = inOrder(latencyMs);
    from.on('data', (bytes) => later(() => to.write(bytes)));
    from.on('end', () => later(() => to.end()));
    from.on('error', () => to.resetAndDestroy());
    from.on('close', () => to.destroy());
  }
  return {
    far,
    flow(on) {
      for (const socket of [near, far]) on ? socket.resume() : socket.pause();
    },
    tear() {
      near.resetAndDestroy();
      far.destroy();
    },
  };
}

/** Whatever is given is done after the latency of its moment, and never before what was given earlier. */
function inOrder(latencyMs: () => number): (work: () => void) => void {
  let waiting = 0;
  let last = Promise.resolve();
  return (work) => {
    const ms = latencyMs();
    if (ms === 0 && waiting === 0) return work();
    const dueAt = performance.now() + ms;
    waiting++;
    last = last.then(async () => {
      await delay(Math.max(0, dueAt - performance.now()));
      waiting--;
      work();
    });
  };
}

async function listenOn(server: Server, port: number): Promise<number> {
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}
