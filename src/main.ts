import cluster from 'node:cluster';
import { resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type AppDeps, buildAdminApp, buildApp, openAreas, seedDemo } from './app.ts';
import { type Config, environment, loadConfig } from './config.ts';
import { demoCredentials } from './demo.ts';
import { packageRoot, version } from './package.ts';
import { type Database, openDatabase } from './platform/db.ts';
import { type EmbeddedPostgres, startEmbeddedPostgres } from './platform/embedded-postgres.ts';
import { startJobs } from './platform/jobs.ts';
import { createLogger } from './platform/log.ts';
import { createMetrics, type Metrics } from './platform/metrics.ts';
import { migrate, readMigrations } from './platform/migrate.ts';
import { ConfigurationFaults } from './platform/settings.ts';
import { StartRefused } from './platform/start-refused.ts';
import { followPrimary, startWorkers, type Workers } from './platform/workers.ts';
import { startDelivering } from './webhooks/delivery-loop.ts';

/**
 * How long everything after the drain may take before the process ends all the same. Requests and jobs have 8 s, a
 * receiver of webhooks 15 s, all at the same time. `TimeoutStopSec` and `stop_grace_period` in deploy/ are longer.
 */
const stopLimitMs = 30_000;
const deliveryPoolSize = 4;

process.stdout.on('error', onOutputLost);
process.stderr.on('error', () => {});
const config = readConfig();
const log = createLogger({ level: config.server.logLevel, onOutputLost });
const lifecycle = { started: false, draining: false };
/** What takes work in: requests, jobs, deliveries. They finish at the same time, and nothing new comes to any of them. */
const intakes: (() => Promise<void>)[] = [];
/** What they all work with, newest last; once they have finished, stopping goes through it from the end. */
const stops: (() => Promise<void>)[] = [];
let embedded: EmbeddedPostgres | undefined;
let metrics: Metrics | undefined;
let workers: Workers | undefined;
let stoppingSince: number | undefined;

process.on('uncaughtException', (error) => endAtOnce(error));
process.on('unhandledRejection', (error) => endAtOnce(error));
// A terminal signals the whole group; a worker follows its primary instead, which stops things in order.
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const)
  process.on(signal, cluster.isPrimary ? onSignal : () => {});
if (cluster.isWorker) {
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
  if (server.demo) await seedDemo(deps.areas, server.urls.base);

  const takesRequests = server.jobs !== 'only';
  // Health is told until all the work is finished.
  if (server.adminPort !== server.port || !takesRequests)
    stops.push(await listen(await buildAdminApp(deps), server.adminPort));
  if (takesRequests && server.workers === 1) intakes.push(await listen(await buildApp(deps), server.port));
  if (takesRequests && server.workers > 1) {
    const started = await startWorkers({
      count: server.workers,
      env: { TOLLGATE_WORKER_DATABASE_URL: url, TOLLGATE_WORKER_MIGRATION: deps.health.migrationLevel },
      registry: deps.metrics.registry,
      log,
    });
    workers = started;
    deps.health.metricsText = started.metricsText;
    intakes.push(() => started.stop());
  }
  // Last, since a start that is refused for its port must not have begun any work.
  if (server.jobs !== 'off') {
    const jobs = startJobs({ url, jobs: deps.areas.jobs, concurrency: 10, log });
    intakes.push(() => jobs.stop());
    // With connections of its own: what it has to wait for must not be what requests wait for.
    const db = openPool(url, deliveryPoolSize);
    stops.push(() => db.close());
    const deliveries = startDelivering({ ...deps.areas.webhooks, db });
    intakes.push(() => deliveries.stop());
  }

  lifecycle.started = true;
  log.info(
    { port: server.port, env: server.env, version, startMs: Math.round(process.uptime() * 1000) },
    'ready',
  );
  if (server.demo && takesRequests) process.stdout.write(greeting(config));
}

async function startWorker(): Promise<void> {
  const { TOLLGATE_WORKER_DATABASE_URL: url = '', TOLLGATE_WORKER_MIGRATION: level = '' } = process.env;
  intakes.push(await listen(await buildApp(await openDeps(url, level)), config.server.port));
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
  const db = openPool(url, config.database.poolSize);
  stops.push(() => db.close());
  const opened = createMetrics(db);
  metrics = opened;
  const metricsText = () => opened.registry.metrics();
  const areas = await openAreas({ config, db, log, metrics: opened, now: () => new Date() });
  stops.push(() => areas.close());
  return { config, log, metrics: opened, areas, health: { lifecycle, db, migrationLevel, metricsText } };
}

function openPool(url: string, poolSize: number): Database {
  const onConnectionError = (error: Error) => log.warn({ err: error }, 'database connection lost');
  return openDatabase({ url, poolSize, onConnectionError });
}

/** Gives back what ends it: no new connection, and the requests that were accepted are answered. */
async function listen(app: Awaited<ReturnType<typeof buildApp>>, port: number): Promise<() => Promise<void>> {
  app.addHook('onSend', (_request, reply, _payload, done) => {
    // While we drain, each answer asks the client to come back on a new connection, which reaches another node.
    if (lifecycle.draining) reply.header('connection', 'close');
    done();
  });
  const { host } = config.server;
  await app.listen({ port, host }).catch((error: NodeJS.ErrnoException) => {
    const setting = port === config.server.port ? 'PORT' : 'ADMIN_PORT';
    if (error.code === 'EADDRINUSE')
      throw new StartRefused(`Port ${port} is in use; set ${setting} to another.`);
    if (error.code === 'EACCES')
      throw new StartRefused(`This user may not listen on port ${port}; set ${setting} to another.`);
    if (error.syscall === 'listen' || error.syscall === 'getaddrinfo')
      throw new StartRefused(
        `This machine cannot listen on the address ${host} (${error.code}); set HOST to one that it has.`,
      );
    throw error;
  });
  return () => app.close();
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

/** Whoever reads our output has gone: like other programs in a pipe we end then, and do not work on unseen. */
function onOutputLost(): void {
  if (cluster.isPrimary) void stop();
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
  await Promise.all(intakes.map(end));
  await endStops();
  if (cluster.isPrimary) log.info('stopped');
  leave(0);
}

async function endStops(): Promise<void> {
  for (let next = stops.pop(); next; next = stops.pop()) await end(next);
}

async function end(one: () => Promise<void>): Promise<void> {
  await one().catch((error: unknown) => log.error({ err: error }, 'stopping'));
}

function drain(): void {
  lifecycle.draining = true;
  workers?.drain();
}

function endAtOnce(error?: unknown): void {
  if (error) log.fatal({ err: error }, 'ending');
  embedded?.stopNow();
  leave(1);
}

/** Exits once the log is written, or without it when nobody takes it. */
function leave(code: number): void {
  setTimeout(() => process.kill(process.pid, 'SIGKILL'), 1_000);
  log.flush(() => process.exit(code));
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

async function refuseToStart(error: unknown): Promise<void> {
  if (error instanceof StartRefused) process.stderr.write(`Tollgate does not start. ${error.message}\n`);
  else log.fatal({ err: error }, 'start failed');
  // A signal from now on must not begin a second stop, which would find nothing left to wait for.
  stoppingSince = Date.now();
  setTimeout(() => endAtOnce(), stopLimitMs).unref();
  // In order: a database that ends before those who are connected to it fills the log with lost connections.
  await endStops();
  leave(1);
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
