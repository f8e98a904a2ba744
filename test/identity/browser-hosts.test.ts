import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { catalogues } from '../../src/identity/pages/texts.ts';
import { startTestApp } from '../support/app.ts';
import { startBrowser } from '../support/browser.ts';
import { freePort } from '../support/free-port.ts';
import { claimsOf } from '../support/partner.ts';
import { inBrowser, type Tabs } from '../support/watched-tab.ts';
import { startWebPartner } from '../support/web-partner.ts';

// As in production, each address has a host of its own. Browsers lead every name under localhost to this machine.
const phone = '+994500000001';
const code = '111111';
const port = await freePort();
const service = await startTestApp({
  PORT: String(port),
  BASE_URL: `http://id.localhost:${port}`,
  SSO_URL: `http://sso.localhost:${port}`,
  CHECKOUT_BASE_URL: `http://pay.localhost:${port}`,
});
await service.app.listen({ port, host: '127.0.0.1' });
const { sso, base } = service.config.server.urls;
const partner = await startWebPartner('partner.localhost');
const shop = await partner.register(service, { name: 'Shop' });
const stranger = await partner.register(service, { name: 'Stranger', audience: 'external' });
const hopping = await partner.register(service, { redirectUris: [`${partner.origin}/hop`] });
const browser = await startBrowser();
const { en } = catalogues;

for (const javaScriptEnabled of [true, false]) {
  const how = javaScriptEnabled ? 'with script' : 'without script';

  test(`login, consent, single sign-on and logout work between hosts, ${how}`, () =>
    visit({ javaScriptEnabled }, async ({ page, script }) => {
      await page.goto(partner.start(stranger, { prompt: 'consent' }));
      await page.fill('#phone', phone);
      await page.getByRole('button', { name: en.phone.submit }).click();
      await page.waitForURL(`${sso}/auth/code*`);
      await page.locator('#code').pressSequentially(code);
      if (!script) await page.getByRole('button', { name: en.code.submit }).click();
      await page.waitForURL(`${sso}/auth/consent*`);
      await page.getByRole('button', { name: en.consent.allow }).click();
      await arrives(page);

      await page.goto(partner.start(shop, { prompt: 'none' }));
      await arrives(page);
      await page.goto(`${partner.origin}/start-by-form?client_id=${shop}`);
      await page.getByRole('button', { name: 'Sign in' }).click();
      await arrives(page);

      await page.getByRole('link', { name: 'Sign out without a hint' }).click();
      await page.getByRole('button', { name: en.logout.submit }).click();
      await heading(page, 'Goodbye out-1');
      await page.goto(partner.start(shop, { prompt: 'none' }));
      await heading(page, 'Refused: login_required');
    }));
}

test('a login that ends with the code, and a logout with a hint, lead from our form to the other host', () =>
  visit({}, async ({ page }) => {
    await page.goto(partner.start(shop));
    await page.fill('#phone', phone);
    await page.getByRole('button', { name: en.phone.submit }).click();
    await page.locator('#code').pressSequentially(code);
    await arrives(page);
    await page.getByRole('link', { name: 'Sign out', exact: true }).click();
    await heading(page, 'Goodbye out-1');
  }));

test('a denied consent and a cancelled login lead to the other host as well', () =>
  visit({}, async ({ page }) => {
    await page.goto(partner.start(stranger, { prompt: 'consent' }));
    await page.fill('#phone', phone);
    await page.getByRole('button', { name: en.phone.submit }).click();
    await page.locator('#code').pressSequentially(code);
    await page.getByRole('button', { name: en.consent.deny }).click();
    await heading(page, 'Refused: access_denied');
    await page.goto(partner.start(shop, { prompt: 'login' }));
    await page.getByRole('link', { name: en.phone.cancel }).click();
    await heading(page, 'Refused: access_denied');
  }));

test('a partner may send people on from its callback to yet another host', () =>
  visit({}, async ({ page }) => {
    await page.goto(partner.start(hopping, { redirect_uri: `${partner.origin}/hop` }));
    await page.fill('#phone', phone);
    await page.getByRole('button', { name: en.phone.submit }).click();
    await page.locator('#code').pressSequentially(code);
    await page.waitForURL((url) => url.hostname !== 'sso.localhost' && url.hostname !== 'hop.localhost');
  }));

test('a partner that opens the login in a window of its own hears from that window afterwards', () =>
  visit({}, async ({ page, context }) => {
    await page.goto(`${partner.origin}/start-by-form?client_id=${shop}`);
    const opened = context.waitForEvent('page');
    await page.evaluate((url) => void window.open(url), partner.start(shop, { display: 'popup' }));
    const popup = await opened;
    await popup.fill('#phone', phone);
    await popup.getByRole('button', { name: en.phone.submit }).click();
    await popup.locator('#code').pressSequentially(code);
    await arrives(popup);
    assert.equal(await popup.evaluate(() => window.opener !== null), true);
  }));

test('the cookies of the login belong to its host alone, and no script reads them', () =>
  visit({}, async ({ page, context }) => {
    await page.goto(partner.start(shop));
    await page.fill('#phone', phone);
    await page.getByRole('button', { name: en.phone.submit }).click();
    await page.locator('#code').pressSequentially(code);
    await arrives(page);
    const cookies = await context.cookies();
    assert.deepEqual(cookies.map(({ name }) => name).sort(), [
      'tollgate-browser',
      'tollgate-device',
      'tollgate-session',
    ]);
    for (const cookie of cookies) {
      // A name without a leading dot is that of a cookie without a Domain: no neighbouring host gets it.
      assert.equal(cookie.domain, 'sso.localhost', cookie.name);
      assert.equal(cookie.httpOnly, true, cookie.name);
      assert.equal(cookie.sameSite, 'Lax', cookie.name);
    }
    for (const neighbour of [
      base,
      `http://pay.localhost:${port}`,
      partner.origin,
      `http://localhost:${port}`,
    ]) {
      assert.deepEqual(await context.cookies(neighbour), [], neighbour);
    }
    const asked = page.waitForRequest(`${base}/api`);
    await page.goto(`${base}/api`);
    assert.equal((await (await asked).allHeaders()).cookie, undefined);
  }));

test('each host serves its own addresses and no others', () =>
  visit({}, async ({ page }) => {
    const statusOf = async (url: string) => (await page.goto(url))?.status();
    assert.equal(await statusOf(`${base}/api`), 200);
    assert.equal(await statusOf(`${sso}/api`), 404);
    assert.equal(await statusOf(`${sso}/.well-known/openid-configuration`), 404);
    assert.equal(await statusOf(`${sso}/auth/logout`), 200);
    assert.equal(await statusOf(`${base}/auth/logout`), 404);
    assert.equal(await statusOf(`http://pay.localhost:${port}/auth/logout`), 404);
    assert.equal(await statusOf(`http://pay.localhost:${port}/api`), 404);
  }));

function visit(options: BrowserContextOptions, story: (tabs: Tabs) => Promise<void>): Promise<void> {
  const elsewhere = partner.origin.replace('partner.', 'shop.');
  const origins = [sso, base, `http://pay.localhost:${port}`, partner.origin, elsewhere];
  return inBrowser(browser, { ...options, origins }, story);
}

async function heading(page: Page, text: string): Promise<void> {
  await page.getByRole('heading', { level: 1, name: text, exact: true }).waitFor();
}

async function arrives(page: Page): Promise<void> {
  await page.waitForURL(`${partner.origin}/welcome*`);
  await heading(page, `Welcome ${phone}`);
  const arrival = partner.arrivals.at(-1);
  assert.equal(arrival?.parameters.get('iss'), base);
  assert.equal(claimsOf(arrival?.tokens?.id_token ?? '').iss, base);
}
