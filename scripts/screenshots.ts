/**
 * Photographs the login and the payment pages for the documentation: starts the service on a database of its own, goes
 * through them in Chromium, and writes every page to docs/images at two widths, in light and in dark.
 * `npm run screenshots`.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEmbeddedPostgres } from '../src/platform/embedded-postgres.ts';
import { installBrowser } from '../test/support/browser.ts';
import { photographLogin } from './screenshots/login.ts';
import { photographPayments } from './screenshots/pay.ts';
import { inStudio } from './screenshots/studio.ts';

await installBrowser();
const dataDir = mkdtempSync(join(tmpdir(), 'tollgate-screenshots-'));
const postgres = await startEmbeddedPostgres({ dataDir, log: () => {}, settings: { fsync: 'off' } });
try {
  await inStudio(postgres.url, async (studio) => {
    await photographLogin(studio);
    await photographPayments(studio);
  });
} finally {
  await postgres.stop();
  rmSync(dataDir, { recursive: true, force: true });
}
