import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { buildApp, openAreas, seedDemo } from '../../src/app.ts';
import { loadConfig } from '../../src/config.ts';
import { packageRoot } from '../../src/package.ts';
import { openDatabase } from '../../src/platform/db.ts';
import { createLogger } from '../../src/platform/log.ts';
import { createMetrics } from '../../src/platform/metrics.ts';
import { migrate, readMigrations } from '../../src/platform/migrate.ts';
import type { TestApp } from '../../test/support/app.ts';
import { launchBrowser } from '../../test/support/browser.ts';
import { freePort } from '../../test/support/free-port.ts';

// Time stands still, and requests and payments have names of ours, so that a picture changes only when its page does.
const at = new Date('2026-01-01T09:00:00Z');
const requestId = '3f0c6f5e-7f0e-4c0e-9d43-6f6f6a1a7c55';
const folder = new URL('docs/images/', packageRoot).pathname;

export type Studio = {
  /** The service, in the shape in which the helpers of the tests take it. */
  service: TestApp;
  /** A page in a browser of its own, in English. */
  openPage(): Promise<Page>;
  /** Waits for what tells this page from the one before it, and takes it at two widths, in light and in dark. */
  photograph(page: Page, name: string, landmark: string): Promise<void>;
};

/** The whole service on an empty database, and a camera. */
export async function inStudio(databaseUrl: string, work: (studio: Studio) => Promise<void>): Promise<void> {
  const migrations = readMigrations(new URL('migrations/', packageRoot));
  await migrate({ ownerUrl: databaseUrl, serverUrl: databaseUrl, migrations, log: () => {} });
  const port = await freePort();
  const config = loadConfig({
    DATABASE_URL: databaseUrl,
    PORT: String(port),
    LOG_LEVEL: 'error',
    TRUST_PROXY: '1',
  });
  const log = createLogger({ level: config.server.logLevel });
  const db = openDatabase({ url: databaseUrl, poolSize: 5, onConnectionError: (err) => log.warn({ err }) });
  const metrics = createMetrics(db);
  const texts: TestApp['texts'] = [];
  const sms = {
    async send(phone: string, text: string) {
      texts.push({ phone, text });
    },
    async close() {},
  };
  const clock = { now: () => at, set() {}, move() {} };
  const areas = await openAreas({ config, db, log, metrics, now: clock.now, sms });
  areas.checkout.deps.newId = namesInOrder();
  await seedDemo(areas, config.server.urls.base);
  const health = { lifecycle: { started: true, draining: false }, db, migrationLevel: '' };
  const app = await buildApp({
    config,
    log,
    metrics,
    health: { ...health, metricsText: () => metrics.registry.metrics() },
    areas,
  });
  await app.listen({ port, host: '127.0.0.1' });
  const browser = await launchBrowser();
  mkdirSync(folder, { recursive: true });
  try {
    await work({
      service: { app, db, config, areas, logLines: [], clock, texts },
      async openPage() {
        const context = await browser.newContext({
          locale: 'en',
          extraHTTPHeaders: { 'x-request-id': requestId },
        });
        const page = await context.newPage();
        // No countdown goes on, and nobody is sent to the shop, however long the photographs take.
        await page.clock.install({ time: at });
        await page.clock.pauseAt(new Date(at.getTime() + 1_000));
        return page;
      },
      photograph,
    });
  } finally {
    await browser.close();
    await app.close();
    await areas.close();
    await db.close();
  }
}

async function photograph(page: Page, name: string, landmark: string): Promise<void> {
  await page.locator(landmark).first().waitFor();
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    for (const viewport of [
      { width: 360, height: 640 },
      { width: 1280, height: 800 },
    ]) {
      await page.setViewportSize(viewport);
      const path = join(folder, `${name}-${viewport.width}-${colorScheme}.png`);
      await page.screenshot({ path, fullPage: true });
    }
  }
  process.stdout.write(`${name}\n`);
}

function namesInOrder(): () => string {
  let named = 0;
  return () => `019b78b2-8f80-7000-8000-${String(++named).padStart(12, '0')}`;
}
