import cluster from 'node:cluster';
import { resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type AppDeps, buildAdminApp, buildApp, openAreas, packageRoot, seedDemo, version } from './app.ts';
import { type Config, environment, loadConfig } from './config.ts';
import { demoCredentials } from './demo.ts';
import { openDatabase } from './platform/db.ts';
import { DataDirInUse, type EmbeddedPostgres, startEmbeddedPostgres } from './platform/embedded-postgres.ts';
import { startJobs } from './platform/jobs.ts';
import { createLogger } from './platform/log.ts';
import { createMetrics, type Metrics } from './platform/metrics.ts';
import { MigrationRefused, migrate, readMigrations } from './platform/migrate.ts';
import { ConfigurationFaults } from './platform/settings.ts';
import { followPrimary, startWorkers, type Workers } from './platform/workers.ts';

/** How long accepted requests and running jobs may take to finish before the process ends all the same. */
const stopLimitMs = 30_000;

const config = readConfig();
const log = createLogger({ level: config.server.logLevel });
const lifecycle = { started: false, draining: false };
/** What was started, newest last; stopping goes through it from the end. */
const stops: (() => Promise<void>)[] = [];
let embedded: EmbeddedPostgres | undefined;
let metrics: Metrics | undefined;
let workers: Workers | undefined;
let stoppingSince: number | undefined;

process.on('uncaughtException', (error) => endAtOnce(error));
process.on('unhandledRejection', (error) => endAtOnce(error));
if (cluster.isPrimary) {
  process.on('SIGTERM', onSignal);
  process.on('SIGINT', onSignal);
} else {
  // A terminal signals the whole group; a worker follows its primary instead, which stops things in order.
  process.on('SIGTERM', () => {});
  process.on('SIGINT', () => {});
  followPrimary({ drain, stop: () => void stop(), registry: () => metrics?.registry });
}

try {
  if (cluster.isPrimary) await startPrimary();
  else await startWorker();
} catch (error) {
  if (stoppingSince === undefined) await refuseToStart(error);
}

async function startPrimary(): Promise<void> {
  const { server, database } = config;
  const url = database.url ?? (await startDatabase());
  const migrations = readMigrations(new URL('migrations/', packageRoot));
  await migrate({
    ownerUrl: database.migrationUrl ?? url,
    serverUrl: url,
    migrations,
    log: (message) => log.info(message),
  });
  const deps = await openDeps(url, migrations.at(-1)?.name ?? '');
  if (server.env === 'local') await seedDemo(deps.areas, server.urls.base);

  if (server.jobs !== 'off') {
    const jobs = startJobs({ url, jobs: deps.areas.jobs, concurrency: 4, log });
    stops.push(() => jobs.stop());
  }
  const takesRequests = server.jobs !== 'only';
  if (server.adminPort !== server.port || !takesRequests)
    await listen(await buildAdminApp(deps), server.adminPort);
  if (takesRequests && server.workers === 1) await listen(await buildApp(deps), server.port);
  if (takesRequests && server.workers > 1) {
    const started = await startWorkers({
      count: server.workers,
      env: { TOLLGATE_WORKER_DATABASE_URL: url, TOLLGATE_WORKER_MIGRATION: deps.health.migrationLevel },
      registry: deps.metrics.registry,
      log,
    });
    workers = started;
    deps.health.metricsText = started.metricsText;
    stops.push(() => started.stop());
  }

  lifecycle.started = true;
  log.info(
    { port: server.port, env: server.env, version, startMs: Math.round(process.uptime() * 1000) },
    'ready',
  );
  if (server.env === 'local' && takesRequests) process.stdout.write(greeting(config));
}

async function startWorker(): Promise<void> {
  const { TOLLGATE_WORKER_DATABASE_URL: url = '', TOLLGATE_WORKER_MIGRATION: level = '' } = process.env;
  await listen(await buildApp(await openDeps(url, level)), config.server.port);
  lifecycle.started = true;
}

async function startDatabase(): Promise<string> {
  const dataDir = resolve(config.database.dataDir);
  const starting = startEmbeddedPostgres({ dataDir, log: (message) => log.info(message) });
  // Known from the first moment, so that a signal in the middle of the start leaves no database behind.
  stops.push(() => starting.then((started) => started.stop()).catch(() => {}));
  embedded = await starting;
  return embedded.url;
}

async function openDeps(url: string, migrationLevel: string): Promise<AppDeps> {
  const db = openDatabase({
    url,
    poolSize: config.database.poolSize,
    onConnectionError: (error) => log.warn({ err: error }, 'database connection lost'),
  });
  stops.push(() => db.close());
  const opened = createMetrics(db);
  metrics = opened;
  const metricsText = () => opened.registry.metrics();
  const areas = await openAreas({ config, db, log, metrics: opened, now: () => new Date() });
  stops.push(() => areas.close());
  return { config, log, metrics: opened, areas, health: { lifecycle, db, migrationLevel, metricsText } };
}

async function listen(app: Awaited<ReturnType<typeof buildApp>>, port: number): Promise<void> {
  app.addHook('onSend', async (_request, reply) => {
    // While we drain, each answer asks the client to come back on a new connection, which reaches another node.
    if (lifecycle.draining) reply.header('connection', 'close');
  });
  await app.listen({ port, host: config.server.host });
  stops.push(() => app.close());
}

function onSignal(signal: NodeJS.Signals): void {
  // Ctrl-C under `npm start` arrives twice within a millisecond: only a second wish counts, not an echo.
  if (stoppingSince !== undefined && Date.now() - stoppingSince > 1_000) {
    log.warn('second signal: ending at once');
    endAtOnce();
  }
  if (stoppingSince === undefined) {
    log.info({ signal }, 'stopping');
    void stop();
  }
}

async function stop(): Promise<void> {
  if (stoppingSince !== undefined) return;
  stoppingSince = Date.now();
  drain();
  setTimeout(
    () => endAtOnce(new Error('stopping took too long')),
    config.server.drainMs + stopLimitMs,
  ).unref();
  if (lifecycle.started && cluster.isPrimary) await delay(config.server.drainMs);
  for (let next = stops.pop(); next; next = stops.pop()) {
    await next().catch((error: unknown) => log.error({ err: error }, 'stopping'));
  }
  if (cluster.isPrimary) log.info('stopped');
  log.flush();
  process.exit(0);
}

function drain(): void {
  lifecycle.draining = true;
  workers?.drain();
}

function endAtOnce(error?: unknown): never {
  if (error) log.fatal({ err: error }, 'ending');
  embedded?.stopNow();
  log.flush();
  process.exit(1);
}

function readConfig(): Config {
  try {
    return loadConfig(environment(process.env));
  } catch (error) {
    if (!(error instanceof ConfigurationFaults)) throw error;
    const lines = error.faults.map((fault) => `  ${fault.name}: ${fault.problem} ${fault.remedy}`);
    process.stderr.write(`Tollgate does not start. The configuration has faults:\n${lines.join('\n')}\n`);
    process.exit(1);
  }
}

async function refuseToStart(error: unknown): Promise<never> {
  const taken = (error as NodeJS.ErrnoException).code === 'EADDRINUSE';
  if (error instanceof DataDirInUse || error instanceof MigrationRefused || taken) {
    const { port, adminPort } = config.server;
    const taking = (error as { port?: number }).port;
    const setting = taking === adminPort && adminPort !== port ? 'ADMIN_PORT' : 'PORT';
    const reason = taken ? `Port ${taking} is in use; set ${setting} to another.` : (error as Error).message;
    process.stderr.write(`Tollgate does not start. ${reason}\n`);
  } else {
    log.fatal({ err: error }, 'start failed');
  }
  await embedded?.stop();
  log.flush();
  process.exit(1);
}

function greeting({ server }: Config): string {
  const demo = demoCredentials(server.urls.base);
  return `
  Tollgate ${version} is ready at ${server.urls.base}

  API reference   ${server.urls.base}/swagger-ui/index.html
  Demo partner    ${demo.partner.clientId} / ${demo.partner.clientSecret}
  Demo merchant   ${demo.merchant.clientId} / ${demo.merchant.clientSecret}, ${demo.merchant.merchantId}, ${demo.merchant.terminalId}
  Demo people     ${demo.people.map((person) => person.phone).join(', ')}; their code is ${demo.oneTimeCode}
  Demo card       ${demo.cards[0]?.number}

`;
}
