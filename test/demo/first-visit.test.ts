import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { Page } from 'playwright-core';
import { products } from '../../src/demo-shop/products.ts';
import { startBrowser } from '../support/browser.ts';
import { testDatabaseUrl } from '../support/database.ts';
import { freePort } from '../support/free-port.ts';
import { startOwnServer } from '../support/server.ts';

const port = await freePort();
await startOwnServer({ after }, { DATABASE_URL: await testDatabaseUrl(), PORT: String(port) });
const home = `http://localhost:${port}`;
const browser = await startBrowser();

async function openTab(): Promise<{ page: Page; complaints: string[] }> {
  const context = await browser.newContext({ viewport: { width: 360, height: 740 }, locale: 'en' });
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(error.message));
  return { page, complaints };
}

async function signIn(page: Page): Promise<void> {
  await page.fill('#phone', '+994500000001');
  await page.getByRole('button').click();
  await page.fill('#code', '111111');
}

async function payByCard(page: Page): Promise<void> {
  await page.fill('#number', '4242 4242 4242 4242');
  await page.fill('#expiry', '12/30');
  await page.fill('#csc', '123');
  await page.fill('#holder', 'Aysel M');
  await page.getByRole('button', { name: /^Pay/ }).click();
}

test('a newcomer signs in, pays, sees the webhook, gives half back and signs out, all by clicking', async (t) => {
  const { page, complaints } = await openTab();
  const from = performance.now();
  await page.goto(home);
  await page.getByRole('link', { name: 'Sign in to the demo shop' }).click();
  await signIn(page);
  await page.getByRole('heading', { name: 'Your account' }).waitFor();
  assert.match(await page.locator('main').innerText(), /Məmmədova/);
  assert.match(await page.locator('main').innerText(), /oldCustomerIds/);
  await page.getByText('3. The code is exchanged for tokens').click();
  assert.match(await page.locator('main').innerText(), /code_verifier=•••/);
  await page.getByRole('button', { name: 'Renew the tokens' }).click();
  await page.getByText('The tokens are renewed').waitFor();

  await page.getByRole('link', { name: 'Shop', exact: true }).click();
  await page.getByRole('button', { name: 'Buy opera ticket' }).click();
  await payByCard(page);
  await page.getByRole('link', { name: 'Back to Demo Shop' }).click();
  await page.locator('summary', { hasText: 'payment.succeeded' }).waitFor();
  assert.equal(await page.inputValue('#amount'), '22.50');
  await page.getByRole('button', { name: 'Give it back' }).click();
  await page.getByText('of which 22.50 went back').waitFor();
  // Nobody loads the page again: it looks by itself until the refund is told of.
  await page.locator('summary', { hasText: 'refund.succeeded' }).waitFor();

  await page.getByRole('link', { name: 'Account' }).click();
  await page.getByRole('link', { name: 'Sign out everywhere' }).click();
  await page.getByRole('heading', { name: 'Buy something' }).waitFor();
  await page.getByRole('link', { name: 'Account' }).click();
  await page.getByRole('heading', { name: 'You are not signed in' }).waitFor();
  t.diagnostic(`from the first screen to signed out: ${Math.round(performance.now() - from)} ms`);
  assert.deepEqual(complaints, []);
});

test('the wallet pays after one sign-in for shop and wallet together', async () => {
  const { page, complaints } = await openTab();
  await page.goto(`${home}/demo/sign-in`);
  await signIn(page);
  await page.getByRole('link', { name: 'Shop', exact: true }).click();
  await page.getByRole('button', { name: 'Buy coffee beans' }).click();
  await page.getByRole('link', { name: 'Pay from your wallet' }).click();
  await page.getByRole('button', { name: 'Pay 12.50 AZN' }).click();
  await page.getByRole('link', { name: 'Back to Demo Shop' }).click();
  await page.getByText('succeeded', { exact: true }).waitFor();
  assert.deepEqual(complaints, []);
});

test('what is broken on purpose is answered as the contract says', async () => {
  const { page } = await openTab();
  await page.goto(`${home}/demo/sign-in`);
  await signIn(page);
  await page.getByRole('button', { name: 'Renew the tokens' }).click();
  await page.getByRole('link', { name: 'Break it' }).click();
  const expected: [string, RegExp][] = [
    ['Come back with another state', /No token was asked for/],
    ['Send a payment twice', /The first answer had the id/],
    ['Use a key for something else', /idempotency_key_reused/],
    ['Use an old refresh token', /refresh_token/],
    ['Use a code twice', /invalid_grant/],
  ];
  for (const [title, answer] of expected) {
    await page.getByRole('button', { name: `: ${title}` }).click();
    await page.getByRole('heading', { name: title }).first().waitFor();
    assert.match(await page.locator('section[aria-label="What happened"]').innerText(), answer, title);
  }
});

test('the shop keeps the last twenty orders of a visitor', async () => {
  const first = await fetch(`${home}/demo`);
  const [cookie = ''] = (first.headers.get('set-cookie') ?? '').split(';');
  const links = async () =>
    (await (await fetch(`${home}/demo`, { headers: { cookie } })).text()).match(
      /orders\?paymentId=[\w-]+/g,
    ) ?? [];
  const buy = async () => {
    const answer = await fetch(`${home}/demo/buy`, {
      method: 'POST',
      headers: { cookie },
      body: new URLSearchParams({ product: products[0]?.name ?? '' }),
      redirect: 'manual',
    });
    assert.match(answer.headers.get('location') ?? '', /\/pay\//);
  };
  for (let orders = 0; orders < 20; orders++) await buy();
  const twenty = await links();
  assert.equal(twenty.length, 20);
  await buy();
  const after = await links();
  assert.deepEqual(after.slice(0, -1), twenty.slice(1));
});

test('a webhook that nobody signed is refused by the shop', async () => {
  const answer = await fetch(`${home}/demo/webhooks`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'webhook-id': '1', 'webhook-timestamp': '1' },
    body: '{}',
  });
  assert.equal(answer.status, 401);
});
