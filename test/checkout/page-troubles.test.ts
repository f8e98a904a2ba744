import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { cardFormOf, cards } from '../support/merchant.ts';
import {
  confirmButton,
  en,
  fillCard,
  goodCard,
  heading,
  linkOf,
  openWallet,
  payButton,
  payWith,
  signIn,
  startPayPage,
  stopClock,
  walletLink,
} from '../support/pay-page.ts';
import { comeBackToPay } from '../support/wallet-visitor.ts';

const world = await startPayPage();
const { service, shop, visit, order, read, person, walletOf, attemptsOf, deps } = world;
const moreTime = (page: Page) => page.getByRole('button', { name: en.time.more });

/** A browser that may see the service fail. */
async function inTrouble(story: (page: Page) => Promise<void>): Promise<void> {
  const context = await world.browser.newContext();
  try {
    await story(await context.newPage());
  } finally {
    await context.close();
  }
}

test('a page that waits for the bank goes on asking when it is told that the service is busy', () =>
  inTrouble(async (page) => {
    const payment = await order();
    let refusals = 2;
    await page.route('**/status', (route) =>
      refusals-- > 0
        ? route.fulfill({ status: 503, contentType: 'application/problem+json', body: '{}' })
        : route.continue(),
    );
    await page.goto(linkOf(payment));
    await payWith(page, cards.lostThenApproved);
    await heading(page, en.waiting.title);
    await world.sweepAfter(120);
    await heading(page, en.paid.title);
    assert.ok(refusals < 0);
    await read(payment);
  }));

test('more time that could not be given is said aloud, what was typed stays, and the next press gets it', () =>
  inTrouble(async (page) => {
    const payment = await order({ expiresIn: 600 });
    const before = Date.parse((await read(payment)).expiresAt);
    await page.goto(linkOf(payment));
    await fillCard(page);
    await page.route('**/more-time', (route) => route.fulfill({ status: 503, body: '{}' }), { times: 1 });
    await moreTime(page).click();
    await page.getByRole('status').getByText(en.time.notGiven).waitFor();
    assert.equal(await page.inputValue('#csc'), goodCard.csc);
    await moreTime(page).click();
    await page.getByRole('status').getByText(en.time.given).waitFor();
    assert.equal(Date.parse((await read(payment)).expiresAt) - before, 600_000);
  }));

test('when the last extension takes the button away, the focus is on the time and not lost', () =>
  visit({}, async ({ page }) => {
    const payment = await order({ expiresIn: 50_000 });
    await page.goto(linkOf(payment));
    await moreTime(page).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('status').getByText(en.time.given).waitFor();
    assert.equal(await moreTime(page).isVisible(), false);
    assert.equal(await page.evaluate("document.activeElement.matches('[data-clock]')"), true);
  }));

test('the time runs on the page of the wallet and of giving up as well, and more of it leads back there', () =>
  visit({ javaScriptEnabled: false }, async ({ page, script }) => {
    const owner = await person(500n);
    const payment = await order({ expiresIn: 600 });
    await page.goto(`${linkOf(payment)}/give-up`);
    await page.getByText(/You have (9|10) minutes to pay/).waitFor();
    await moreTime(page).click();
    await page.getByText(/You have (19|20) minutes to pay/).waitFor();
    await page.getByRole('button', { name: en.giveUp.yes }).waitFor();
    await openWallet({ page, script }, payment, owner.phone);
    await page.getByText(/You have (19|20) minutes to pay/).waitFor();
    await moreTime(page).click();
    await page.getByText(/You have (29|30) minutes to pay/).waitFor();
    await confirmButton(page).click();
    await heading(page, en.paid.title);
    await read(payment);
    assert.equal(await walletOf(owner.id), '40000');
  }));

test('who goes back from the shop sees how it ended, and is not caught between the two', () =>
  visit({}, async ({ page }) => {
    const payment = await order();
    const leaves = async () => {
      await page.getByText(/You go back to the shop in [1-5] s\./).waitFor();
      await page.clock.runFor(6_000);
      await page.waitForURL(`${shop.returnUrl}**`);
    };
    await stopClock(page);
    await page.goto(`${shop.origin}/basket`);
    await page.goto(linkOf(payment));
    await payWith(page);
    await leaves();
    // The page that was left is no longer there; what lies before it is the form, and that is over.
    await page.goBack();
    await heading(page, en.paid.title);
    await leaves();
    await page.goBack();
    await page.waitForURL(`${shop.origin}/basket`);
    assert.deepEqual(await attemptsOf(payment.id), ['approved']);
  }));

test('who lost the cookie of signing in is told so, and the payment stays as it was', async () => {
  const owner = await person(500n);
  const payment = await order();
  const { back } = await comeBackToPay(service, linkOf(payment), owner.phone);
  const answer = await service.app.inject({
    url: back.pathname + back.search,
    headers: { 'accept-language': 'en' },
  });
  assert.equal(answer.statusCode, 404);
  assert.ok(answer.body.includes(en.cookieLost.title), answer.body);
  assert.deepEqual(await attemptsOf(payment.id), []);
  assert.equal(await walletOf(owner.id), '50000');
});

test('where no cards are taken the wallet alone is offered, and a card that is sent all the same goes nowhere', async () => {
  const payment = await order();
  const form = cardFormOf((await service.app.inject({ url: new URL(linkOf(payment)).pathname })).body);
  assert.ok(form);
  deps.takesCards = false;
  try {
    await visit({}, async ({ page, script }) => {
      const poor = await person(1n);
      await page.goto(linkOf(payment));
      await walletLink(page).waitFor();
      assert.equal(await page.locator('#number').count(), 0);
      await walletLink(page).click();
      await signIn({ page, script }, poor.phone);
      const told = await page.getByRole('alert').textContent();
      assert.ok(told?.includes(en.wallet.tooLittle.text) && !told.includes(en.wallet.orCard), String(told));
    });
    const answer = await service.app.inject({
      method: 'POST',
      url: new URL(linkOf(payment)).pathname,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      payload: new URLSearchParams({ ...form.fields, ...goodCard }).toString(),
    });
    assert.equal(answer.statusCode, 303);
    assert.deepEqual(await attemptsOf(payment.id), []);
  } finally {
    deps.takesCards = true;
  }
});

// The clock stands still from here on.

test('a page whose clock is ahead of the server’s asks again in peace', () =>
  visit({}, async ({ page }) => {
    service.clock.set(new Date());
    const payment = await order({ expiresIn: 60 });
    service.clock.move(59_000);
    let loads = 0;
    page.on('request', (request) => {
      if (request.isNavigationRequest()) loads++;
    });
    await stopClock(page);
    await page.goto(linkOf(payment));
    await payButton(page).waitFor();
    for (let round = 1; round <= 3; round++) {
      assert.equal(loads, round);
      const again = page.waitForEvent('load');
      await page.clock.runFor(1_000);
      assert.equal(loads, round);
      await page.clock.runFor(1_000);
      await again;
      await payButton(page).waitFor();
    }
  }));
