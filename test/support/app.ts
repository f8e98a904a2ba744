import { after } from 'node:test';
import { buildApp } from '../../src/app.ts';
import { type Config, loadConfig } from '../../src/config.ts';
import { type Database, openDatabase } from '../../src/platform/db.ts';
import type { HttpServer } from '../../src/platform/http.ts';
import { createLogger } from '../../src/platform/log.ts';
import { createMetrics } from '../../src/platform/metrics.ts';
import { testDatabaseUrl } from './database.ts';

export type TestApp = { app: HttpServer; db: Database; config: Config; logLines: string[] };

/** The whole service on a database of its own, reached with `app.inject`; what it logs is kept for the test to read. */
export async function startTestApp(env: Record<string, string> = {}): Promise<TestApp> {
  const url = env.DATABASE_URL ?? (await testDatabaseUrl());
  const config = loadConfig({ DATABASE_URL: url, LOG_LEVEL: 'trace', ...env });
  const logLines: string[] = [];
  const log = createLogger({
    level: config.server.logLevel,
    destination: { write: (line) => void logLines.push(line) },
  });
  const db = openDatabase({ url, poolSize: 10, onConnectionError: (err) => log.warn({ err }, 'lost') });
  const metrics = createMetrics(db);
  const lifecycle = { started: true, draining: false };
  const health = { lifecycle, db, migrationLevel: '', metricsText: () => metrics.registry.metrics() };
  const app = await buildApp({ config, db, log, metrics, health });
  after(async () => {
    await app.close();
    await db.close();
  });
  return { app, db, config, logLines };
}
