/**
 * Photographs the login pages for the documentation: starts the service on a database of its own, goes through a login
 * in Chromium, and writes every page to docs/images at two widths, in light and in dark. `npm run screenshots`.
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium, type Page } from 'playwright-core';
import { buildApp, openAreas, packageRoot, seedDemo } from '../src/app.ts';
import { loadConfig } from '../src/config.ts';
import { openDatabase } from '../src/platform/db.ts';
import { startEmbeddedPostgres } from '../src/platform/embedded-postgres.ts';
import { createLogger } from '../src/platform/log.ts';
import { createMetrics } from '../src/platform/metrics.ts';
import { migrate, readMigrations } from '../src/platform/migrate.ts';
import { installBrowser } from '../test/support/browser.ts';
import { freePort } from '../test/support/free-port.ts';
import { newPkce } from '../test/support/partner.ts';
import { addClient } from '../test/support/sessions.ts';

// Time stands still and the request has a name of ours, so that a picture changes only when its page does.
const at = new Date('2026-01-01T09:00:00Z');
const requestId = '3f0c6f5e-7f0e-4c0e-9d43-6f6f6a1a7c55';
const phone = '+994501234567';
const callback = 'http://localhost:4000/callback';
const afterLogout = 'http://localhost:4000/';
const folder = new URL('docs/images/', packageRoot).pathname;

mkdirSync(folder, { recursive: true });
await installBrowser();
const dataDir = mkdtempSync(join(tmpdir(), 'tollgate-screenshots-'));
const postgres = await startEmbeddedPostgres({ dataDir, log: () => {}, settings: { fsync: 'off' } });
try {
  await photographLogin(postgres.url);
} finally {
  await postgres.stop();
  rmSync(dataDir, { recursive: true, force: true });
}

async function photographLogin(databaseUrl: string): Promise<void> {
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
  let sent = '';
  const sms = {
    async send(_phone: string, text: string) {
      sent = /\b\d{6}\b/.exec(text)?.[0] ?? '';
    },
    async close() {},
  };
  const areas = await openAreas({ config, db, log, metrics, now: () => at, sms });
  await seedDemo(areas, config.server.urls.base);
  const clientId = await addClient(db, {
    name: 'Corner Shop',
    audience: 'external',
    scopes: ['openid', 'profile', 'phone'],
    redirectUris: [callback],
    postLogoutRedirectUris: [afterLogout],
    identityDocuments: false,
  });
  const health = { lifecycle: { started: true, draining: false }, db, migrationLevel: '' };
  const app = await buildApp({
    config,
    log,
    metrics,
    health: { ...health, metricsText: () => metrics.registry.metrics() },
    areas,
  });
  await app.listen({ port, host: '127.0.0.1' });
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM_PATH ?? '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu'],
  });
  try {
    const context = await browser.newContext({
      locale: 'en',
      extraHTTPHeaders: { 'x-request-id': requestId },
    });
    const page = await context.newPage();
    await page.clock.setFixedTime(at);
    await goThrough(page, { sso: config.server.urls.sso, clientId, codeSent: () => sent });
  } finally {
    await browser.close();
    await app.close();
    await areas.close();
    await db.close();
  }
}

async function goThrough(
  page: Page,
  { sso, clientId, codeSent }: { sso: string; clientId: string; codeSent: () => string },
): Promise<void> {
  const request = new URLSearchParams({
    response_type: 'code',
    client_id: clientId,
    scope: 'openid profile phone',
    state: 'state-1',
    redirect_uri: callback,
    code_challenge: newPkce().challenge,
    code_challenge_method: 'S256',
  });
  const submit = () => page.locator('main form button').first().click();

  await page.goto(`${sso}/auth/ssoValidateUser?${request}`);
  await photograph(page, 'phone', '#phone');
  await page.fill('#phone', '050 123');
  await submit();
  await photograph(page, 'phone-error', '#phone-error');
  await page.fill('#phone', phone);
  await submit();
  await photograph(page, 'code', '#code');
  await page.fill('#code', codeSent() === '123456' ? '654321' : '123456');
  await photograph(page, 'code-wrong', '#code-error');
  await page.fill('#code', codeSent());
  await photograph(page, 'consent', '[name=decision]');

  await page.goto(`${sso}/auth/ssoValidateUser?client_id=unknown`);
  await photograph(page, 'message', '.sign.bad');
  await page.goto(
    `${sso}/auth/logout?${new URLSearchParams({ client_id: clientId, post_logout_redirect_uri: afterLogout })}`,
  );
  await photograph(page, 'logout-confirm', '.sign.plain');
  await page.goto(`${sso}/auth/logout`);
  await submit();
  await photograph(page, 'signed-out', '.sign.good');
}

/** Waits for what tells this page from the one before it. */
async function photograph(page: Page, name: string, landmark: string): Promise<void> {
  await page.locator(landmark).first().waitFor();
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    for (const viewport of [
      { width: 360, height: 640 },
      { width: 1280, height: 800 },
    ]) {
      await page.setViewportSize(viewport);
      const path = join(folder, `login-${name}-${viewport.width}-${colorScheme}.png`);
      await page.screenshot({ path, fullPage: true });
    }
  }
  process.stdout.write(`${name}\n`);
}
