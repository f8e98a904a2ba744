import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page, Response } from 'playwright-core';
import { cards } from '../support/merchant.ts';
import {
  answerBank,
  confirmButton,
  en,
  heading,
  linkOf,
  openWallet,
  payWith,
  signIn,
  startPayPage,
  stopClock,
  walletLink,
} from '../support/pay-page.ts';

// As in production, the login, the payment page and the shop have hosts of their own. Browsers lead every name under
// localhost to this machine; the service itself, which asks for tokens, may not, so the issuer is localhost.
const { service, shop, visit, order, read, person, walletOf } = await startPayPage({
  shopHost: 'shop.localhost',
  env: (port) => ({
    BASE_URL: `http://localhost:${port}`,
    SSO_URL: `http://sso.localhost:${port}`,
    CHECKOUT_BASE_URL: `http://pay.localhost:${port}`,
  }),
});
const { sso, checkout } = service.config.server.urls;

for (const javaScriptEnabled of [true, false]) {
  const how = javaScriptEnabled ? 'with script' : 'without script';

  test(`a card with 3-D Secure is paid from host to host and back at the shop, ${how}`, () =>
    visit({ javaScriptEnabled }, async ({ page, context }) => {
      const answers = pagesOf(page);
      const payment = await order();
      assert.equal(new URL(linkOf(payment)).origin, checkout);
      await page.goto(linkOf(payment));
      await payWith(page, cards.challenge);
      await answerBank(page);
      await heading(page, en.paid.title);
      await page.getByRole('link', { name: en.leave.back('Demo Shop') }).click();
      await page.waitForURL(`${shop.origin}/**`);
      const { searchParams } = new URL(page.url());
      assert.deepEqual(
        [searchParams.get('paymentId'), searchParams.get('status')],
        [payment.id, 'succeeded'],
      );
      assert.equal((await read(payment)).authorization?.threeDSecure, true);
      // Paying by card leaves nothing in the browser.
      assert.deepEqual(await context.cookies(), []);
      await arePagesOfOurs(answers, checkout, 3);
    }));

  test(`a wallet is paid from host to host: sign in, confirm, back at the shop, ${how}`, () =>
    visit({ javaScriptEnabled }, async (tabs) => {
      const { page, context } = tabs;
      const answers = pagesOf(page);
      const owner = await person(130n);
      const payment = await order();
      await page.goto(linkOf(payment));
      await walletLink(page).click();
      await page.waitForURL(`${sso}/auth/**`);
      await signIn(tabs, owner.phone);
      assert.equal(new URL(page.url()).origin, checkout);
      const names = (origin: string) =>
        context
          .cookies(origin)
          .then((cookies) => cookies.map(({ name }) => name.replace(/-[0-9a-f]{12}$/, '')).sort());
      assert.deepEqual(await names(checkout), ['tollgate-paying', 'tollgate-sign-in']);
      assert.deepEqual(await names(sso), ['tollgate-browser', 'tollgate-device', 'tollgate-session']);
      assert.deepEqual(await names(shop.origin), []);
      for (const cookie of await context.cookies()) {
        assert.equal(cookie.httpOnly, true, cookie.name);
        assert.equal(cookie.sameSite, 'Lax', cookie.name);
        // A name without a leading dot is that of a cookie without a Domain: no neighbouring host gets it.
        assert.match(cookie.domain, /^(sso|pay)\.localhost$/, cookie.name);
      }
      await confirmButton(page).click();
      await heading(page, en.paid.title);
      assert.equal((await names(checkout)).includes('tollgate-paying'), false);
      assert.equal(await walletOf(owner.id), '3000');
      await page.getByRole('link', { name: en.leave.back('Demo Shop') }).click();
      await page.waitForURL(`${shop.origin}/**`);
      assert.deepEqual((await read(payment)).paymentMethod, { type: 'wallet' });
      await arePagesOfOurs(answers, checkout, 3);
    }));
}

test('the customer is taken back to the other host by itself, and nothing of ours goes along', () =>
  visit({}, async ({ page }) => {
    const payment = await order();
    await stopClock(page);
    await page.goto(linkOf(payment));
    await payWith(page);
    await heading(page, en.paid.title);
    const arriving = page.waitForRequest((request) => request.url().startsWith(shop.origin));
    await page.clock.runFor(6_000);
    const { referer, cookie } = await (await arriving).allHeaders();
    assert.deepEqual({ referer, cookie }, { referer: undefined, cookie: undefined });
    await page.waitForURL(`${shop.origin}/**`);
    await read(payment);
  }));

test('no other site can put the payment page into a frame or send a form from it elsewhere', () =>
  visit({}, async ({ page }) => {
    const payment = await order();
    const answer = await page.goto(linkOf(payment));
    const policy = answer?.headers()['content-security-policy'] ?? '';
    assert.match(policy, /frame-ancestors 'none'/);
    assert.match(policy, new RegExp(`form-action 'self' ${checkout.replaceAll('.', '\\.')};`));
    assert.doesNotMatch(policy, /unsafe|\*|https?:\/\/(?!pay\.localhost)/);
  }));

/** Every page of the payment host that a tab is given, newest last. */
function pagesOf(page: Page): Response[] {
  const answers: Response[] = [];
  page.on('response', (response) => {
    if (response.url().startsWith(checkout) && response.request().resourceType() === 'document') {
      answers.push(response);
    }
  });
  return answers;
}

/** Each with the headers of the contract, redirects included. */
async function arePagesOfOurs(answers: Response[], origin: string, atLeast: number): Promise<void> {
  assert.ok(answers.length >= atLeast, `${answers.length} answers`);
  for (const answer of answers) {
    const headers = await answer.allHeaders();
    assert.equal(new URL(answer.url()).origin, origin);
    assert.match(headers['content-security-policy'] ?? '', /^default-src 'none';/, answer.url());
    assert.match(headers['content-security-policy'] ?? '', /frame-ancestors 'none'/, answer.url());
    assert.equal(headers['cache-control'], 'no-store', answer.url());
    assert.equal(headers['referrer-policy'], 'no-referrer', answer.url());
    assert.equal(headers['x-frame-options'], 'DENY', answer.url());
  }
}

test('a wallet form whose sign-in has lapsed, or that of a second tab, leads somewhere on every host', () =>
  visit({}, async (tabs) => {
    const { page, context } = tabs;
    const owner = await person(500n);
    const [first, second] = [await order(), await order()];
    await openWallet(tabs, first, owner.phone);
    const other = await tabs.openTab();
    await other.goto(linkOf(second));
    await walletLink(other).click();
    await other.waitForURL('**/wallet/confirm*');
    // The sign-in of one tab does not undo that of the other.
    await confirmButton(page).click();
    await heading(page, en.paid.title);
    await context.clearCookies();
    await confirmButton(other).click();
    await other.getByText(en.wallet.notSignedIn.title).waitFor();
    assert.deepEqual((await read(second)).status, 'pending');
  }));
