import type { FastifyPluginAsync } from 'fastify';
import { type Queryable, sql } from './db.ts';

/** Where the process stands in its life; `main.ts` moves it on. */
export type Lifecycle = { started: boolean; draining: boolean };

export type HealthDeps = {
  lifecycle: Lifecycle;
  db: Queryable;
  /** The migration this code needs; a newer database has it too. */
  migrationLevel: string;
  metricsText: () => Promise<string>;
};

const hidden = { schema: { hide: true }, logLevel: 'warn' } as const;

/** For orchestrators: live (restart me?), started (wait longer?), ready (send me requests?), and the metrics. */
export const health: FastifyPluginAsync<HealthDeps> = async (app, deps) => {
  app.get('/health/live', hidden, async () => ({ status: 'live' }));

  app.get('/health/started', hidden, async (_request, reply) =>
    deps.lifecycle.started ? { status: 'started' } : reply.code(503).send({ status: 'starting' }),
  );

  app.get('/health/ready', hidden, async (_request, reply) => {
    const fault = await reasonNotReady(deps);
    return fault ? reply.code(503).header('retry-after', '1').send({ status: fault }) : { status: 'ready' };
  });

  app.get('/metrics', hidden, async (_request, reply) =>
    reply.type('text/plain; version=0.0.4; charset=utf-8').send(await deps.metricsText()),
  );
};

async function reasonNotReady({ lifecycle, db, migrationLevel }: HealthDeps): Promise<string | undefined> {
  if (!lifecycle.started) return 'starting';
  if (lifecycle.draining) return 'stopping';
  try {
    const { level } = await db.one<{ level: string | null }>(
      sql`select max(name) as level from tollgate.migrations`,
    );
    return (level ?? '') >= migrationLevel ? undefined : 'database is behind';
  } catch {
    return 'database is away';
  }
}
