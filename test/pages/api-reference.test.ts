import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { startTestApp } from '../support/app.ts';
import { startBrowser } from '../support/browser.ts';
import { freePort } from '../support/free-port.ts';

const axe = createRequire(import.meta.url).resolve('axe-core/axe.min.js');
const port = await freePort();
const { app } = await startTestApp({ PORT: String(port) });
await app.listen({ port, host: '127.0.0.1' });
const url = `http://localhost:${port}`;
const fitsItsWidth = 'document.documentElement.scrollWidth <= document.documentElement.clientWidth';
const browser = await startBrowser();

test('the interactive reference renders offline under its own policy', async () => {
  const { page, complaints, outside } = await openPage('/swagger-ui/index.html');
  await page.getByRole('heading', { name: /^Tollgate/ }).waitFor();
  assert.deepEqual(complaints, []);
  assert.deepEqual(outside, []);
});

test('the short addresses of the reference lead to it', async () => {
  for (const path of ['/swagger-ui', '/swagger-ui/']) {
    const { page } = await openPage(path);
    assert.equal(new URL(page.url()).pathname, '/swagger-ui/index.html');
  }
});

for (const colorScheme of ['light', 'dark'] as const) {
  for (const path of ['/', '/docs/errors']) {
    test(`${path} has no accessibility fault and does not scroll sideways at 360 pixels in ${colorScheme}`, async () => {
      const { page, complaints, outside } = await openPage(path, { width: 360, colorScheme });
      assert.deepEqual(complaints, []);
      assert.deepEqual(outside, []);
      assert.ok(await page.evaluate(fitsItsWidth));
      assert.deepEqual(await faultsFoundByAxe(page), []);
    });
  }
}

async function openPage(path: string, look: { width?: number; colorScheme?: 'light' | 'dark' } = {}) {
  const context = await browser.newContext({
    // The checker is put into the page from outside, which the policy rightly forbids to everybody else.
    bypassCSP: look.width !== undefined,
    viewport: { width: look.width ?? 1280, height: 800 },
    colorScheme: look.colorScheme ?? 'light',
  });
  const page = await context.newPage();
  const complaints: string[] = [];
  const outside: string[] = [];
  page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('request', (request) => {
    if (!request.url().startsWith(url) && !request.url().startsWith('data:')) outside.push(request.url());
  });
  await page.goto(url + path, { waitUntil: 'networkidle' });
  return { page, complaints, outside };
}

async function faultsFoundByAxe(page: Page): Promise<string[]> {
  await page.addScriptTag({ path: axe });
  const script =
    'axe.run().then((found) => found.violations.map((one) => one.id + ": " + one.nodes[0].html))';
  return (await page.evaluate(script)) as string[];
}
