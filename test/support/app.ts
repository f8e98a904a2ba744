import { after } from 'node:test';
import { type Areas, buildApp, openAreas, seedDemo } from '../../src/app.ts';
import { type Config, loadConfig } from '../../src/config.ts';
import { type Database, type DatabaseLimits, openDatabase } from '../../src/platform/db.ts';
import type { HttpServer } from '../../src/platform/http.ts';
import { createLogger } from '../../src/platform/log.ts';
import { createMetrics } from '../../src/platform/metrics.ts';
import type { Resolve } from '../../src/platform/outgoing.ts';
import { patience, testDatabaseUrl } from './database.ts';

export type TestApp = {
  app: HttpServer;
  db: Database;
  config: Config;
  areas: Areas;
  logLines: string[];
  clock: TestClock;
  /** Texts that would have been sent, newest last. */
  texts: { phone: string; text: string }[];
};

/** The real time until it is set; then it stands still until it is moved. */
export type TestClock = { now(): Date; set(at: Date): void; move(ms: number): void };

export function createTestClock(): TestClock {
  let fixed: number | undefined;
  return {
    now: () => new Date(fixed ?? Date.now()),
    set: (at) => {
      fixed = at.getTime();
    },
    move: (ms) => {
      fixed = (fixed ?? Date.now()) + ms;
    },
  };
}

/** The service on a database of this test file's own; it ends when the file is done. */
export async function startTestApp(
  env: Record<string, string> = {},
  options: TestAppOptions = {},
): Promise<TestApp> {
  const url = env.DATABASE_URL ?? (await testDatabaseUrl());
  const { close, ...service } = await openTestApp({ ...env, DATABASE_URL: url }, options);
  after(close);
  return service;
}

type TestAppOptions = { resolve?: Resolve; limits?: DatabaseLimits };

/**
 * The whole service, reached with `app.inject` or, after `app.listen`, over HTTP. Only the clock and the receiver of
 * texts are not the real ones, and the database has more time than a server gives it; what is logged is kept for the
 * test to read.
 */
export async function openTestApp(
  env: Record<string, string> & { DATABASE_URL: string },
  { limits = patience, ...replaced }: TestAppOptions = {},
): Promise<TestApp & { close(): Promise<void> }> {
  const url = env.DATABASE_URL;
  const config = loadConfig({ LOG_LEVEL: 'trace', ...env });
  const logLines: string[] = [];
  const log = createLogger({
    level: config.server.logLevel,
    destination: { write: (line) => void logLines.push(line) },
  });
  const db = openDatabase({
    url,
    poolSize: config.database.poolSize,
    onConnectionError: (err) => log.warn({ err }, 'lost'),
    limits,
  });
  const metrics = createMetrics(db);
  const clock = createTestClock();
  const texts: TestApp['texts'] = [];
  const sms = {
    async send(phone: string, text: string) {
      texts.push({ phone, text });
    },
    async close() {},
  };
  const areas = await openAreas({ config, db, log, metrics, now: clock.now, sms, ...replaced });
  if (config.server.demo) await seedDemo(areas, config.server.urls.base);
  const lifecycle = { started: true, draining: false };
  const health = { lifecycle, db, migrationLevel: '', metricsText: () => metrics.registry.metrics() };
  const app = await buildApp({ config, log, metrics, health, areas });
  const close = async () => {
    await app.close();
    await areas.close();
    await db.close();
  };
  return { app, db, config, areas, logLines, clock, texts, close };
}
