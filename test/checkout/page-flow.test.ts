import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { payTexts } from '../../src/checkout/pages/pay-texts.ts';
import { catalogues } from '../../src/identity/pages/texts.ts';
import { type Language, languages } from '../../src/platform/languages.ts';
import { focusIsOn } from '../support/by-keyboard.ts';
import { call, cards, type PaymentAnswer, refund } from '../support/merchant.ts';
import {
  answerBank,
  confirmButton,
  en,
  explains,
  fillCard,
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
import type { Tabs } from '../support/watched-tab.ts';

const world = await startPayPage();
const { service, shop, visit, order, read, person, walletOf, sweepAfter } = world;

type Reason = keyof typeof en.declined;
type Ending = { paid: true; threeDSecure?: boolean } | { declined: Reason };

/** What becomes of each card of the sandbox, and by which way. */
const sandbox: [number: string, by: 'at once' | 'bank' | 'inquiry', ending: Ending | { failed: true }][] = [
  ['4242 4242 4242 4242', 'at once', { paid: true }],
  ['4111 1111 1111 1111', 'at once', { paid: true }],
  ['5555 5555 5555 4444', 'at once', { paid: true }],
  ['4000 0000 0000 5126', 'at once', { paid: true }],
  ['4000 0000 0000 0002', 'at once', { declined: 'general_decline' }],
  ['4000 0000 0000 9995', 'at once', { declined: 'insufficient_funds' }],
  ['4000 0000 0000 0069', 'at once', { declined: 'card_expired' }],
  ['4000 0000 0000 0127', 'at once', { declined: 'invalid_csc' }],
  ['4100 0000 0000 0019', 'at once', { declined: 'fraud_suspected' }],
  ['4000 0000 0000 3220', 'bank', { paid: true, threeDSecure: true }],
  ['4000 0084 0000 1629', 'bank', { declined: 'general_decline' }],
  ['4000 0000 0000 0119', 'inquiry', { paid: true }],
  ['4000 0000 0000 0259', 'inquiry', { failed: true }],
];

for (const [number, by, ending] of sandbox) {
  const [outcome] = Object.entries(ending).at(0) ?? [];
  const told = 'declined' in ending ? `declined as ${ending.declined}` : outcome;
  test(`the card ${number} is ${told}, ${by}, and money moves accordingly`, () =>
    visit({}, async ({ page }) => {
      const payment = await order();
      const before = await world.balance();
      await page.goto(linkOf(payment));
      await payWith(page, number);
      if (by === 'bank') await answerBank(page);
      if (by === 'inquiry') {
        await heading(page, en.waiting.title);
        assert.equal(await payButton(page).count(), 0);
        assert.equal((await read(payment)).lastAttempt?.status, 'unknown');
        await sweepAfter(2);
      }
      if ('paid' in ending) {
        await heading(page, en.paid.title);
        const paid = await read(payment);
        assert.equal(paid.status, 'succeeded');
        assert.equal(paid.paymentMethod?.card?.last4, number.slice(-4));
        assert.equal(paid.authorization?.threeDSecure, ending.threeDSecure ?? false);
        assert.equal((await world.balance()) - before, 100_00);
        return;
      }
      const declined = 'declined' in ending;
      await explains(page, declined ? en.declined[ending.declined] : en.failedAttempt);
      await focusIsOn(page, '[role=alert]');
      assert.equal(await page.getByText(en.card.attemptsLeft(4)).isVisible(), true);
      const left = await read(payment);
      assert.equal(left.status, 'pending');
      assert.equal(left.lastAttempt?.status, declined ? 'declined' : 'failed');
      assert.equal(left.lastAttempt?.reason, declined ? ending.declined : null);
      assert.equal(await world.balance(), before, 'no money was taken, as the page says');
      // The next card pays.
      await payWith(page);
      await heading(page, en.paid.title);
      assert.equal((await read(payment)).status, 'succeeded');
      assert.equal((await world.balance()) - before, 100_00);
    }));
}

/** The customer stays on the page instead of going back to the shop after five seconds. */
async function keepFromShop(page: Page): Promise<void> {
  await page.route(`${shop.origin}/**`, (route) => route.fulfill({ status: 204 }));
}

/** What customers do, told so that it holds in every language and with or without script. */
const stories: Record<string, (tabs: Tabs, language: Language, payment: PaymentAnswer) => Promise<void>> = {
  'is declined, tries again and pays': async ({ page }, language, payment) => {
    const texts = payTexts[language];
    await payWith(page, cards.noFunds);
    await explains(page, texts.declined.insufficient_funds);
    await speaks(page, language);
    await payWith(page);
    await heading(page, texts.paid.title);
    assert.equal((await read(payment)).status, 'succeeded');
  },
  'confirms the payment at the bank': async ({ page }, language, payment) => {
    await payWith(page, cards.challenge);
    await answerBank(page);
    await heading(page, payTexts[language].paid.title);
    assert.equal((await read(payment)).authorization?.threeDSecure, true);
  },
  'pays from the wallet': async (tabs, language, payment) => {
    const { page } = tabs;
    const texts = payTexts[language];
    const owner = await person(150n);
    await walletLink(page).click();
    await heading(page, catalogues[language].phone.title);
    await signIn(tabs, owner.phone);
    await heading(page, texts.wallet.title);
    await speaks(page, language);
    await confirmButton(page).click();
    await heading(page, texts.paid.title);
    assert.deepEqual((await read(payment)).paymentMethod, { type: 'wallet' });
    assert.equal(await walletOf(owner.id), '5000');
  },
  'gives the payment up': async ({ page }, language, payment) => {
    const { giveUp, canceled } = payTexts[language];
    await page.getByRole('link', { name: giveUp.link }).click();
    await heading(page, giveUp.title);
    await page.getByRole('link', { name: giveUp.no }).click();
    await page.getByRole('link', { name: giveUp.link }).click();
    await page.getByRole('button', { name: giveUp.yes }).click();
    await heading(page, canceled.canceled_by_customer.title);
    const details = { party: 'customer', reason: 'canceled_by_customer' };
    assert.deepEqual((await read(payment)).cancellationDetails, details);
  },
  'waits until the bank has answered': async ({ page }, language, payment) => {
    await payWith(page, cards.lostThenApproved);
    await heading(page, payTexts[language].waiting.title);
    await sweepAfter(2);
    await heading(page, payTexts[language].paid.title);
    assert.equal((await read(payment)).status, 'succeeded');
  },
};

const tellings: [language: Language, javaScriptEnabled: boolean, stories: (keyof typeof stories)[]][] = [
  ['en', false, Object.keys(stories)],
  ['az', true, ['is declined, tries again and pays', 'pays from the wallet']],
  ['ru', true, ['confirms the payment at the bank', 'gives the payment up']],
  ['az', false, ['confirms the payment at the bank']],
  ['ru', false, ['pays from the wallet']],
];

for (const [language, javaScriptEnabled, names] of tellings) {
  for (const name of names) {
    test(`a customer ${name}, in ${language}, ${javaScriptEnabled ? 'with' : 'without'} script`, () =>
      visit({ javaScriptEnabled, locale: 'de' }, async (tabs) => {
        const payment = await order({}, { locale: language });
        await keepFromShop(tabs.page);
        await tabs.page.goto(linkOf(payment));
        await speaks(tabs.page, language);
        await stories[name]?.(tabs, language, payment);
        await speaks(tabs.page, language);
      }));
  }
}

test('the page speaks the language of the order, else of the browser, and the one chosen stays to the end', () =>
  visit({ locale: 'ru-RU' }, async ({ page }) => {
    const payment = await order({}, { locale: undefined });
    await page.goto(linkOf(payment));
    await speaks(page, 'ru');
    for (const language of languages) {
      if (language !== 'ru') await page.locator(`nav a[hreflang=${language}]`).click();
      await page.locator(`html[lang=${language}]`).waitFor();
      assert.match((await payButton(page).textContent()) ?? '', /100[.,]00\sAZN/);
      if (language === 'en') break;
    }
    await payWith(page, cards.challenge);
    await answerBank(page);
    await heading(page, en.paid.title);
    assert.equal((await read(payment)).status, 'succeeded');
    await page.goto(linkOf(await order({}, { locale: 'az' })));
    await speaks(page, 'az');
  }));

test('a wallet shows whose it is and what is in it, and nothing is taken before it is confirmed', () =>
  visit({}, async (tabs) => {
    const { page } = tabs;
    const owner = await person(500n);
    const payment = await order();
    await openWallet(tabs, payment, owner.phone);
    const facts = (await page.locator('dl.facts').innerText()).replaceAll('\u00a0', ' ');
    for (const shown of [
      'Nigar Quliyeva',
      `+994 •••• ${owner.phone.slice(-2)}`,
      '500.00 AZN',
      '400.00 AZN',
    ]) {
      assert.ok(facts.includes(shown), `${shown} in ${facts}`);
    }
    assert.equal((await page.content()).includes(owner.phone), false);
    assert.equal(await walletOf(owner.id), '50000');
    await page.getByRole('link', { name: en.wallet.back }).click();
    await payButton(page).waitFor();
    assert.equal((await read(payment)).lastAttempt, null);
    // Who has just signed in need not do it again.
    await walletLink(page).click();
    await heading(page, en.wallet.title);
    await keepFromShop(page);
    await confirmButton(page).click();
    await heading(page, en.paid.title);
    assert.equal(await page.getByText(en.receipt.wallet, { exact: true }).isVisible(), true);
    assert.equal(await walletOf(owner.id), '40000');
    assert.equal((await read(payment)).status, 'succeeded');
  }));

test('a wallet with too little says so, takes nothing and offers the card', () =>
  visit({}, async (tabs) => {
    const { page } = tabs;
    const owner = await person(99n);
    const payment = await order();
    await openWallet(tabs, payment, owner.phone);
    await explains(page, en.wallet.tooLittle);
    assert.equal(await confirmButton(page).count(), 0);
    assert.match(await page.title(), /^Error: /);
    assert.deepEqual(await world.attemptsOf(payment.id), []);
    await page.getByRole('link', { name: en.wallet.byCard }).click();
    await payWith(page);
    await heading(page, en.paid.title);
    assert.equal(await walletOf(owner.id), '9900');
    assert.equal((await read(payment)).paymentMethod?.type, 'card');
  }));

test('a wallet that is emptied while its owner decides takes nothing and costs no try', () =>
  visit({}, async (tabs) => {
    const { page } = tabs;
    const owner = await person(150n);
    const [first, second] = [await order(), await order()];
    await openWallet(tabs, first, owner.phone);
    const other = await tabs.openTab();
    await other.goto(linkOf(second));
    await walletLink(other).click();
    await confirmButton(other).click();
    await heading(other, en.paid.title);
    // Each browser pays one payment at a time: the first has to sign in again, which single sign-on does by itself.
    await confirmButton(page).click();
    await explains(page, en.wallet.tooLittle);
    assert.equal(await walletOf(owner.id), '5000');
    assert.deepEqual(await world.attemptsOf(first.id), []);
    assert.equal((await read(second)).status, 'succeeded');
  }));

for (const javaScriptEnabled of [true, false]) {
  const how = javaScriptEnabled ? 'with script' : 'without script';

  test(`who turns back at the login pays by card instead, ${how}`, () =>
    visit({ javaScriptEnabled }, async ({ page }) => {
      const payment = await order();
      await page.goto(linkOf(payment));
      await walletLink(page).click();
      await page.getByRole('link', { name: catalogues.en.phone.cancel }).click();
      await explains(page, en.wallet.notSignedIn);
      await payWith(page);
      await heading(page, en.paid.title);
      assert.equal((await read(payment)).status, 'succeeded');
    }));

  test(`who is signed in as somebody else signs in with another number and pays from the right wallet, ${how}`, () =>
    visit({ javaScriptEnabled }, async (tabs) => {
      const { page } = tabs;
      const [stranger, owner] = [await person(500n, 'Elchin'), await person(300n)];
      const payment = await order();
      await openWallet(tabs, payment, stranger.phone);
      await page.getByText('Elchin Quliyeva').waitFor();
      await page.getByRole('link', { name: en.wallet.anotherPerson }).click();
      await heading(page, catalogues.en.phone.title);
      await signIn(tabs, owner.phone);
      await page.getByText('Nigar Quliyeva').waitFor();
      await confirmButton(page).click();
      await heading(page, en.paid.title);
      assert.equal(await walletOf(stranger.id), '50000');
      assert.equal(await walletOf(owner.id), '20000');
      assert.equal((await read(payment)).status, 'succeeded');
    }));
}

test('an order that is only reserved says so, by card, and then that it was paid', () =>
  visit({}, async ({ page }) => {
    const payment = await order({ capture: false });
    await keepFromShop(page);
    await page.goto(linkOf(payment));
    await payWith(page);
    await heading(page, en.reserved.title);
    assert.equal(await page.getByText(en.reserved.text('Demo Shop')).isVisible(), true);
    assert.equal((await read(payment)).status, 'waiting_for_capture');
    await call(service, 'POST', `/v1/payments/${payment.id}/capture`, { body: {} });
    await page.reload();
    await heading(page, en.paid.title);
    await refund(service, payment.id, '40.00');
    await page.reload();
    await page.getByText(en.receipt.refunded).waitFor();
    assert.match((await page.locator('dl.facts').innerText()) ?? '', /40\.00\sAZN/);
    assert.equal((await read(payment)).refundedAmount.value, '40.00');
  }));

test('an order that is reserved in a wallet and canceled by the shop gives the money back, and says so', () =>
  visit({}, async (tabs) => {
    const { page } = tabs;
    const owner = await person(120n);
    const payment = await order({ capture: false });
    await keepFromShop(page);
    await openWallet(tabs, payment, owner.phone);
    await confirmButton(page).click();
    await heading(page, en.reserved.title);
    assert.equal(await walletOf(owner.id), '2000');
    assert.equal((await read(payment)).status, 'waiting_for_capture');
    await call(service, 'POST', `/v1/payments/${payment.id}/cancel`);
    await page.reload();
    await heading(page, en.canceled.canceled_by_merchant.title);
    assert.equal(await page.getByText(en.released.wallet).isVisible(), true);
    assert.equal(await walletOf(owner.id), '12000');
    assert.equal((await read(payment)).status, 'canceled');
  }));

test('an order that is reserved on a card and canceled by the shop says that the bank lets go of the money', () =>
  visit({}, async ({ page }) => {
    const payment = await order({ capture: false });
    await keepFromShop(page);
    await page.goto(linkOf(payment));
    await payWith(page);
    await heading(page, en.reserved.title);
    await call(service, 'POST', `/v1/payments/${payment.id}/cancel`);
    await page.reload();
    await page.getByText(en.released.card).waitFor();
    await sweepAfter(0);
    assert.equal((await read(payment)).status, 'canceled');
  }));

test('an order that the shop cancels while its page is open ends without a charge, whatever was typed', () =>
  visit({}, async ({ page }) => {
    const payment = await order();
    await page.goto(linkOf(payment));
    await fillCard(page);
    await call(service, 'POST', `/v1/payments/${payment.id}/cancel`);
    await payButton(page).click();
    await heading(page, en.canceled.canceled_by_merchant.title);
    assert.deepEqual(await world.attemptsOf(payment.id), []);
    assert.equal((await read(payment)).cancellationDetails?.reason, 'canceled_by_merchant');
  }));

test('five declined tries are all there are', () =>
  visit({}, async ({ page }) => {
    const payment = await order();
    await page.goto(linkOf(payment));
    for (const left of [4, 3, 2, 1]) {
      await payWith(page, cards.declined);
      await page.getByText(en.card.attemptsLeft(left)).waitFor();
    }
    await payWith(page, cards.declined);
    await heading(page, en.canceled.attempts_exhausted.title);
    assert.equal(await page.getByText(en.canceled.attempts_exhausted.text).isVisible(), true);
    const details = { party: 'tollgate', reason: 'attempts_exhausted' };
    assert.deepEqual((await read(payment)).cancellationDetails, details);
    assert.deepEqual(await world.attemptsOf(payment.id), Array(5).fill('declined'));
  }));

test('when the time is up the page says so by itself and nothing can be paid', () =>
  visit({}, async ({ page }) => {
    const payment = await order({ expiresIn: 90 });
    await stopClock(page);
    await page.goto(linkOf(payment));
    await page.getByText('Time left: 1:').waitFor();
    await page.clock.runFor(40_000);
    await page.getByRole('status').getByText(en.time.soon).waitFor();
    await sweepAfter(91);
    await page.clock.runFor(60_000);
    await heading(page, en.canceled.expired_on_confirmation.title);
    assert.equal((await read(payment)).cancellationDetails?.reason, 'expired_on_confirmation');
    assert.deepEqual(await world.attemptsOf(payment.id), []);
  }));

test('the customer goes back to the shop by the button, and the shop is told how it ended', () =>
  visit({}, async ({ page }) => {
    const payment = await order();
    await page.goto(linkOf(payment));
    await payWith(page);
    await page.getByRole('link', { name: en.leave.back('Demo Shop') }).click();
    await arrivesAtShop(page, payment, 'succeeded');
  }));

test('the customer goes back to the shop by themselves after five seconds, counted aloud for the eye', () =>
  visit({}, async ({ page }) => {
    const payment = await order();
    await stopClock(page);
    await page.goto(`${linkOf(payment)}/give-up`);
    await page.getByRole('button', { name: en.giveUp.yes }).click();
    await heading(page, en.canceled.canceled_by_customer.title);
    await page.getByText(/You go back to the shop in [1-5] s\./).waitFor();
    await page.clock.runFor(6_000);
    await arrivesAtShop(page, payment, 'canceled');
  }));

test('without script the customer goes back to the shop by themselves as well', () =>
  visit({ javaScriptEnabled: false }, async ({ page }) => {
    const payment = await order({ capture: false });
    await page.goto(linkOf(payment));
    await payWith(page);
    await page.getByText(en.leave.soon).waitFor();
    await arrivesAtShop(page, payment, 'waiting_for_capture');
  }));

test('who wants to stay on the page stays', () =>
  visit({}, async ({ page }) => {
    const payment = await order();
    await stopClock(page);
    await page.goto(linkOf(payment));
    await payWith(page);
    await page.getByRole('button', { name: en.leave.stay }).click();
    await page.clock.runFor(60_000);
    await heading(page, en.paid.title);
    assert.equal(page.url().startsWith(linkOf(payment)), true, page.url());
    assert.equal(await page.getByRole('link', { name: en.leave.back('Demo Shop') }).isVisible(), true);
  }));

test('a link that leads to no payment says so and names no shop, whatever is in it', () =>
  visit({ locale: 'en' }, async ({ page }) => {
    const link = linkOf(await order());
    const changed = link.slice(0, -30) + (link.at(-30) === 'A' ? 'B' : 'A') + link.slice(-29);
    for (const address of [changed, `${changed}/wallet`, `${changed}/give-up`, link.replace(/[^/]+$/, 'x')]) {
      assert.equal((await page.goto(address))?.status(), 404, address);
      await heading(page, en.unknownLink.title);
      assert.equal((await page.content()).includes('Demo Shop'), false);
    }
    await page.locator('nav a[hreflang=ru]').click();
    await heading(page, payTexts.ru.unknownLink.title);
  }));

// The clock stands still from here on.

test('who opens the link again later sees how it ended and is not sent away, with and without script', async () => {
  const [paid, canceled] = [await order(), await order()];
  await visit({}, async ({ page }) => {
    await page.goto(linkOf(paid));
    await payWith(page);
    await heading(page, en.paid.title);
  });
  await call(service, 'POST', `/v1/payments/${canceled.id}/cancel`);
  service.clock.move(16 * 60_000);
  for (const javaScriptEnabled of [true, false]) {
    await visit({ javaScriptEnabled }, async ({ page }) => {
      if (javaScriptEnabled) await page.clock.install();
      await page.goto(linkOf(canceled));
      await heading(page, en.canceled.canceled_by_merchant.title);
      await page.goto(linkOf(paid));
      await heading(page, en.paid.title);
      if (javaScriptEnabled) await page.clock.runFor(60_000);
      assert.equal(await page.locator('[data-leave-after], meta[http-equiv=refresh]').count(), 0);
      assert.equal(page.url().startsWith(linkOf(paid)), true, page.url());
      await page.getByRole('link', { name: en.leave.back('Demo Shop') }).click();
      await arrivesAtShop(page, paid, 'succeeded');
    });
  }
});

test('without script the page of an order whose time is up says so when it is used', () =>
  visit({ javaScriptEnabled: false }, async ({ page }) => {
    const payment = await order({ expiresIn: 60 });
    await page.goto(linkOf(payment));
    await page.getByText(en.time.left(1)).waitFor();
    await fillCard(page);
    service.clock.move(60_000);
    await payButton(page).click();
    await heading(page, en.canceled.expired_on_confirmation.title);
    assert.deepEqual(await world.attemptsOf(payment.id), []);
    assert.equal((await read(payment)).cancellationDetails?.reason, 'expired_on_confirmation');
  }));

async function speaks(page: Page, language: Language): Promise<void> {
  assert.equal(await page.locator('html').getAttribute('lang'), language);
}

async function arrivesAtShop(page: Page, payment: PaymentAnswer, status: string): Promise<void> {
  await page.waitForURL(`${shop.origin}/**`);
  assert.deepEqual(Object.fromEntries(shop.arrivals.at(-1)?.searchParams ?? []), {
    basket: '7',
    paymentId: payment.id,
    status,
  });
  assert.equal((await read(payment)).status, status);
}
