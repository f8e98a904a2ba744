import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { until } from '../test/support/server.ts';
import { settle } from './checker.ts';
import { withClient } from './database.ts';
import type { Allowance } from './driver.ts';
import type { Random } from './random.ts';
import { portOf, type World } from './world.ts';

export type Fault = {
  allows: Allowance;
  /** Why it cannot be done here; undefined when it can. */
  missing?: (world: World) => string | undefined;
  /** Does harm under load, and puts it right again. Tells with what figures. */
  inflict: (world: World, random: Random) => Promise<string>;
  /** What has to wait until the load is over. */
  afterLoad?: (world: World) => Promise<void>;
};

const unavailable = { unavailable: true };
const hourMs = 3600_000;

/** Each by the name that `--only` takes. */
export const faults: Record<string, Fault> = {
  calm: {
    allows: {},
    async inflict(_world, random) {
      return hold(random, 500, 1_500);
    },
  },

  'kill-server': {
    allows: { drops: true },
    async inflict({ nodes }, random) {
      const victim = random.pick(nodes.serving);
      await victim.kill();
      await victim.start();
      return victim.name;
    },
  },

  'kill-jobs': {
    allows: {},
    async inflict({ nodes }) {
      await nodes.jobs.kill();
      await nodes.jobs.start();
      return nodes.jobs.name;
    },
  },

  'kill-postgres': {
    allows: unavailable,
    missing: ({ database }) => (database.kill ? undefined : 'this database is not killed but failed over'),
    async inflict({ database }, random) {
      await database.kill?.();
      return hold(random, 500, 1_500);
    },
  },

  'kill-everything': {
    allows: { drops: true, unavailable: true },
    missing: ({ database }) => (database.kill ? undefined : 'this database is not killed but failed over'),
    async inflict({ database, nodes }) {
      const all = [...nodes.serving, nodes.jobs];
      await Promise.all([database.kill?.(), ...all.map((node) => node.kill())]);
      await untilAnswers(database.url());
      await Promise.all(all.map((node) => node.start()));
      return `${all.length} processes and PostgreSQL`;
    },
  },

  'slow-line': {
    allows: unavailable,
    async inflict({ proxy }, random) {
      const ms = random.between(5, 100);
      proxy.delayBy(ms);
      const held = await hold(random, 1_000, 3_000);
      proxy.delayBy(0);
      return `${ms} ms each way, ${held}`;
    },
  },

  'frozen-line': {
    allows: unavailable,
    async inflict({ proxy }, random) {
      await proxy.become('freeze');
      const held = await hold(random, 200, 2_500);
      await proxy.become('pass');
      return held;
    },
  },

  // Longer than every limit of ours: nobody says that the line is dead, it is only silent.
  'silent-partition': {
    allows: unavailable,
    async inflict({ proxy }, random) {
      await proxy.become('freeze');
      const held = await hold(random, 6_000, 9_000);
      await proxy.become('reset');
      await proxy.become('pass');
      return held;
    },
  },

  'torn-line': {
    allows: unavailable,
    async inflict({ proxy }, random) {
      const times = random.between(1, 5);
      for (let time = 0; time < times; time++) {
        await proxy.become('reset');
        await hold(random, 0, 300);
        await proxy.become('pass');
        await hold(random, 50, 400);
      }
      return `${times} times`;
    },
  },

  'refused-line': {
    allows: unavailable,
    async inflict({ proxy }, random) {
      await proxy.become('refuse');
      const held = await hold(random, 300, 2_500);
      await proxy.become('pass');
      return held;
    },
  },

  'no-connections': {
    allows: unavailable,
    async inflict({ database }, random) {
      const ms = random.between(1_000, 3_000);
      const held = await takeAllConnections(database.url(), ms);
      await Promise.all(held.map((client) => client.end().catch(() => {})));
      return `${held.length} held for ${ms} ms`;
    },
  },

  'locked-table': {
    allows: unavailable,
    async inflict({ database }, random) {
      return withClient(database.url(), async (client) => {
        await client.query('begin');
        await client.query('lock table checkout.payments, identity.grants in access exclusive mode');
        const held = await hold(random, 1_000, 5_000);
        await client.query('rollback');
        return held;
      });
    },
  },

  'full-disk': {
    allows: unavailable,
    missing: ({ database }) =>
      database.fillDisk ? undefined : 'it needs root and leave to mount a small disk for the database',
    async inflict({ database }, random) {
      const giveBack = await database.fillDisk?.();
      const held = await hold(random, 1_000, 3_000);
      await giveBack?.();
      return held;
    },
  },

  'clock-ahead': {
    allows: { unavailable: true, endedSessions: true },
    async inflict(world, random) {
      world.moveClock(hourMs);
      return hold(random, 1_000, 3_000);
    },
    // What waits for a moment of that clock would wait for an hour after the step back.
    async afterLoad(world) {
      await settle(world);
      world.moveClock(0);
    },
  },

  // There and back, each a step under load.
  'clock-behind': {
    allows: { unavailable: true, endedSessions: true },
    async inflict(world, random) {
      world.moveClock(-hourMs);
      const held = await hold(random, 1_000, 3_000);
      world.moveClock(0);
      return held;
    },
  },

  'stalled-loop': {
    allows: { unavailable: true, heldMs: 2_000 },
    async inflict(world, random) {
      const ms = random.between(100, 1_500);
      world.stall(ms);
      await delay(ms);
      return `${ms} ms`;
    },
  },

  'paused-server': {
    allows: { unavailable: true, heldMs: 2_500 },
    async inflict({ nodes }, random) {
      const victim = random.pick(nodes.serving);
      victim.signal('SIGSTOP');
      const held = await hold(random, 200, 2_000);
      victim.signal('SIGCONT');
      return `${victim.name}, ${held}`;
    },
  },

  'rolling-restart': {
    allows: {},
    async inflict({ nodes }) {
      for (const node of nodes.serving) await node.replace(nodes.serving.length === 1);
      return `${nodes.serving.length} replaced`;
    },
  },

  failover: {
    allows: unavailable,
    missing: ({ database }) => (database.failOver ? undefined : 'this database has no standby'),
    async inflict({ database, proxy }) {
      const startedAt = performance.now();
      let awayMs = 0;
      await database.failOver?.(async () => {
        proxy.leadTo(portOf(database.url()));
        await proxy.become('reset');
        await proxy.become('pass');
        awayMs = performance.now() - startedAt;
      });
      return `promoted after ${Math.round(awayMs)} ms`;
    },
  },
};

async function hold(random: Random, leastMs: number, mostMs: number): Promise<string> {
  const ms = random.between(leastMs, mostMs);
  await delay(ms);
  return `${ms} ms`;
}

/** All that are free, and those of the service as well: its sessions are ended, and it gets no others for a while. */
async function takeAllConnections(url: string, ms: number): Promise<pg.Client[]> {
  const held: pg.Client[] = [];
  for (const endsAt = performance.now() + ms; performance.now() < endsAt; await delay(20)) {
    // Many at once, since the service hurries as well.
    const taken = await Promise.all(Array.from({ length: 20 }, () => tryConnect(url)));
    held.push(...taken.filter((client) => client !== undefined));
    await held[0]?.query(`select pg_terminate_backend(pid) from pg_stat_activity
      where application_name in ('tollgate', 'tollgate jobs')`);
  }
  return held;
}

async function tryConnect(url: string): Promise<pg.Client | undefined> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5_000 });
  client.on('error', () => {});
  return client.connect().then(
    () => client,
    () => undefined,
  );
}

async function untilAnswers(url: string): Promise<void> {
  await until('PostgreSQL answers', () => withClient(url, async () => true).catch(() => false));
}
