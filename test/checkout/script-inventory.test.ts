import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import type { Response } from 'playwright-core';
import type { scriptInventory } from '../../src/checkout/script-inventory.ts';
import { setMerchantTheme } from '../../src/checkout/store/merchants.ts';
import { packageRoot } from '../../src/package.ts';
import { startTestApp } from '../support/app.ts';
import { startBrowser } from '../support/browser.ts';
import { freePort } from '../support/free-port.ts';
import { cards, createPayment, demoMerchant, payByCard } from '../support/merchant.ts';

const port = await freePort();
const service = await startTestApp({ PORT: String(port) });
await service.app.listen({ port, host: '127.0.0.1' });
const browser = await startBrowser();
const inventory = JSON.parse(
  readFileSync(new URL('dist/script-inventory.json', packageRoot), 'utf8'),
) as typeof scriptInventory;

/** Each page as Chromium has received it: its headers, and the hash of everything that could run or colour it. */
async function received(url: string) {
  const page = await browser.newPage();
  try {
    const response = (await page.goto(url)) as Response;
    const { scripts, styles, handlers } = await page.evaluate(() => ({
      scripts: [...document.scripts].map((script) => script.src || script.text),
      styles: [...document.querySelectorAll('style')].map((style) => style.textContent ?? ''),
      handlers: [...document.querySelectorAll('*')].flatMap((element) =>
        [...element.attributes].filter(({ name }) => name.startsWith('on') || name === 'style'),
      ).length,
    }));
    return {
      headers: await response.allHeaders(),
      scripts: scripts.map(hash),
      styles: styles.map(hash),
      handlers,
    };
  } finally {
    await page.close();
  }
}

const hash = (text: string) => `sha256-${createHash('sha256').update(text).digest('base64')}`;

async function everyPage(): Promise<string[]> {
  const open = (await createPayment(service)).confirmation.confirmationUrl;
  const [paid, waiting, challenged] = [
    await createPayment(service),
    await createPayment(service),
    await createPayment(service),
  ];
  await payByCard(service, paid);
  await payByCard(service, waiting, cards.lostThenApproved);
  await payByCard(service, challenged, cards.challenge);
  const ended = [paid, waiting, challenged].map((payment) => payment.confirmation.confirmationUrl);
  return [open, `${open}/give-up`, ...ended];
}

test('what the browser receives of the payment page is what the inventory of the build says', async () => {
  const policy = inventory.headers['content-security-policy'].replace(
    '{checkout-origin}',
    new URL(service.config.server.urls.checkout).origin,
  );
  for (const url of await everyPage()) {
    const page = await received(url);
    assert.deepEqual(
      page.scripts,
      inventory.scripts.map(({ integrity }) => integrity),
      url,
    );
    assert.deepEqual(
      page.styles,
      inventory.styles.slice(0, 2).map(({ integrity }) => integrity),
      url,
    );
    assert.equal(page.handlers, 0, url);
    assert.equal(page.headers['content-security-policy'], policy, url);
    for (const [name, value] of Object.entries(inventory.headers)) {
      // This test has no https; the policy was compared above.
      if (name === 'strict-transport-security' || name === 'content-security-policy') continue;
      assert.equal(page.headers[name], value, `${url} ${name}`);
    }
  }
});

test("a merchant's colours add one style sheet, named by its hash, and nothing else", async () => {
  await setMerchantTheme(service.db, demoMerchant.merchantId, { logo: null, accent: '#ffcc00' });
  // The directory of merchants is read anew once a second.
  await new Promise((resolve) => setTimeout(resolve, 1_100));
  const page = await received((await createPayment(service)).confirmation.confirmationUrl);
  assert.equal(page.styles.length, 3);
  assert.ok(page.headers['content-security-policy']?.includes(`'${page.styles[2]}'`));
  assert.deepEqual(
    page.scripts,
    inventory.scripts.map(({ integrity }) => integrity),
  );
});

test('no script on the page can turn text into markup or code', async () => {
  const page = await browser.newPage();
  try {
    await page.goto((await createPayment(service)).confirmation.confirmationUrl);
    await assert.rejects(
      page.evaluate(() => {
        document.body.innerHTML = '<p>not ours</p>';
      }),
      /TrustedHTML/,
    );
    assert.equal(await page.getByText('not ours').count(), 0);
  } finally {
    await page.close();
  }
});
