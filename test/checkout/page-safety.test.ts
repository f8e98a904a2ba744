import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { payTexts } from '../../src/checkout/pages/pay-texts.ts';
import { deactivateUser } from '../../src/identity/users.ts';
import { sql } from '../../src/platform/db.ts';
import { seal } from '../../src/platform/seal.ts';
import { focusIsOn } from '../support/by-keyboard.ts';
import { gate } from '../support/gate.ts';
import { bankOf, call, cardFormOf, cards, type PaymentAnswer } from '../support/merchant.ts';
import { type Answer, type Form, formsOf, redirectOf, Visitor } from '../support/partner.ts';
import {
  answerBank,
  confirmButton,
  en,
  explains,
  fillCard,
  goodCard,
  heading,
  linkOf,
  openWallet,
  type Person,
  payButton,
  payWith,
  signIn,
  startPayPage,
  walletLink,
} from '../support/pay-page.ts';
import { until } from '../support/server.ts';
import { comeBackToPay, signInToPay } from '../support/wallet-visitor.ts';

const world = await startPayPage();
const { service, visit, order, read, person, walletOf, attemptsOf } = world;
const { sso } = service.config.server.urls;
const comeBack = (owner: Person, payment: PaymentAnswer) =>
  comeBackToPay(service, linkOf(payment), owner.phone);
const signedIn = (owner: Person, payment: PaymentAnswer, visitor?: Visitor) =>
  signInToPay(service, payment, owner.phone, visitor);

test('two tabs that pay at once make one approved attempt, and both show it', () =>
  visit({}, async ({ page, openTab }) => {
    const payment = await order();
    const other = await openTab();
    for (const tab of [page, other]) {
      await tab.goto(linkOf(payment));
      await fillCard(tab);
    }
    await Promise.all([payButton(page).click(), payButton(other).click()]);
    await Promise.all([page, other].map((tab) => heading(tab, en.paid.title)));
    await isPaidOnce(payment);
  }));

test('two tabs, one by card and one from the wallet, make one approved attempt', () =>
  visit({}, async (tabs) => {
    const { page } = tabs;
    const owner = await person(100n);
    const payment = await order();
    await openWallet(tabs, payment, owner.phone);
    const other = await tabs.openTab();
    await other.goto(linkOf(payment));
    await fillCard(other);
    await Promise.all([confirmButton(page).click(), payButton(other).click()]);
    await Promise.all([page, other].map((tab) => heading(tab, en.paid.title)));
    const paid = await isPaidOnce(payment);
    assert.equal(await walletOf(owner.id), paid.paymentMethod?.type === 'wallet' ? '0' : '10000');
  }));

for (const javaScriptEnabled of [true, false]) {
  const how = javaScriptEnabled ? 'with script' : 'without script';

  test(`a double click pays once, by card and from the wallet, ${how}`, () =>
    visit({ javaScriptEnabled }, async (tabs) => {
      const { page } = tabs;
      const owner = await person(300n);
      const [byCard, byWallet] = [await order(), await order()];
      await page.goto(linkOf(byCard));
      await fillCard(page);
      await payButton(page).dblclick();
      await heading(page, en.paid.title);
      await isPaidOnce(byCard);
      await openWallet(tabs, byWallet, owner.phone);
      await confirmButton(page).dblclick();
      await heading(page, en.paid.title);
      await isPaidOnce(byWallet);
      assert.equal(await walletOf(owner.id), '20000');
    }));

  test(`reload, back and forward do no harm at any step, ${how}`, () =>
    visit({ javaScriptEnabled }, async ({ page }) => {
      const payment = await order();
      await page.goto(linkOf(payment));
      await page.reload();
      await payWith(page, cards.declined);
      await explains(page, en.declined.general_decline);
      await page.reload();
      await explains(page, en.declined.general_decline);
      await page.goBack();
      await payButton(page).waitFor();
      await page.goForward();
      await explains(page, en.declined.general_decline);
      assert.deepEqual(await attemptsOf(payment.id), ['declined']);

      await payWith(page, cards.challenge);
      await page.waitForURL('**/sandbox/acs/*');
      await page.reload();
      // Behind the bank's page there is no form, only the way to the bank.
      await page.goBack();
      await page.goto(linkOf(payment));
      await heading(page, en.bank.title);
      assert.equal(await payButton(page).count(), 0);
      await page.getByRole('link', { name: en.bank.go }).click();
      await answerBank(page);
      await heading(page, en.paid.title);
      await page.reload();
      await heading(page, en.paid.title);
      for (let steps = 0; steps < 2; steps++) {
        await page.goBack();
        await heading(page, en.paid.title);
      }
      assert.deepEqual(await attemptsOf(payment.id), ['declined', 'approved']);
      assert.equal((await read(payment)).status, 'succeeded');
    }));
}

test('a refused form or code that is loaded again is refused again, and after the payment leads to its page', () =>
  visit({ javaScriptEnabled: false }, async ({ page }) => {
    const payment = await order();
    await page.goto(linkOf(payment));
    await fillCard(page, { csc: '' });
    await payButton(page).click();
    await focusIsOn(page, '[role=alert]');
    await page.reload();
    await focusIsOn(page, '[role=alert]');
    assert.deepEqual(await attemptsOf(payment.id), []);
    await payWith(page, cards.challenge);
    await answerBank(page, '9999');
    await page.getByText('2 tries are left.').waitFor();
    await page.reload();
    await page.getByText('One try is left.').waitFor();
    await answerBank(page);
    await heading(page, en.paid.title);
    // A browser keeps no answer to a form: it asks whether to send the form again, and whoever does sees the outcome.
    await page.goBack().catch(() => {});
    await page.waitForURL('chrome-error://**');
    await page.reload();
    await heading(page, en.paid.title);
    await isPaidOnce(payment);
  }));

test('reload, back and forward do no harm on the way through the wallet', () =>
  visit({}, async (tabs) => {
    const { page } = tabs;
    const owner = await person(150n);
    const payment = await order();
    await page.goto(linkOf(payment));
    await walletLink(page).click();
    await page.goBack();
    await payButton(page).waitFor();
    await page.goForward();
    await signIn(tabs, owner.phone);
    await page.reload();
    await heading(page, en.wallet.title);
    // Behind is the login, which has nothing left to ask and leads here once more.
    await page.goBack();
    await heading(page, en.wallet.title);
    await confirmButton(page).click();
    await heading(page, en.paid.title);
    await page.reload();
    await heading(page, en.paid.title);
    await page.goBack();
    await heading(page, en.paid.title);
    await isPaidOnce(payment);
    assert.equal(await walletOf(owner.id), '5000');
  }));

test('a form that is sent again, approved or declined, begins no second attempt', async () => {
  for (const [number, outcome] of [
    [cards.approved, 'approved'],
    [cards.declined, 'declined'],
  ] as const) {
    const payment = await order();
    const form = await cardForm(payment, number);
    for (let times = 0; times < 3; times++) assert.equal((await send(form)).statusCode, 303);
    assert.deepEqual(await attemptsOf(payment.id), [outcome]);
    await read(payment);
  }
});

test('of twenty equal forms at once one makes an attempt, and all are answered by the same page', async () => {
  for (const number of [cards.approved, cards.challenge, cards.lostThenApproved, cards.declined]) {
    const payment = await order();
    const form = await cardForm(payment, number);
    const answers = await Promise.all(Array.from({ length: 20 }, () => send(form)));
    assert.deepEqual([...new Set(answers.map(({ statusCode }) => statusCode))], [303]);
    const expected: Record<string, string> = {
      [cards.approved]: 'approved',
      [cards.challenge]: 'challenge',
      [cards.lostThenApproved]: 'unknown',
      [cards.declined]: 'declined',
    };
    assert.deepEqual(await attemptsOf(payment.id), [expected[number]]);
    if (number === cards.challenge) {
      const bank = await bankOf(service, payment);
      const confirm: Form = { action: bank, fields: { code: '1234', action: 'confirm' } };
      await Promise.all(Array.from({ length: 20 }, () => send(confirm)));
      const back = `${new URL(linkOf(payment)).pathname}/return`;
      await Promise.all(Array.from({ length: 20 }, () => service.app.inject({ url: back })));
      await isPaidOnce(payment);
    }
    if (number === cards.lostThenApproved) {
      await Promise.all([world.sweepAfter(2), world.sweepAfter(2), world.sweepAfter(3)]);
      await isPaidOnce(payment);
    }
    await read(payment);
  }
});

test('on a slow network a second press sends nothing', () =>
  visit({}, async ({ page, context }) => {
    const payment = await order();
    const { open, opened } = gate();
    let posts = 0;
    await context.route(linkOf(payment), async (route) => {
      if (route.request().method() === 'POST') {
        posts++;
        await opened;
      }
      await route.continue();
    });
    await page.goto(linkOf(payment));
    await fillCard(page);
    await payButton(page).scrollIntoViewIfNeeded();
    const box = await payButton(page).boundingBox();
    const press = () => page.mouse.click((box?.x ?? 0) + 20, (box?.y ?? 0) + 20);
    // By mouse and keyboard alone: the driver would wait for the page that does not come.
    for (let times = 0; times < 4; times++) await press();
    await page.keyboard.press('Enter');
    await press();
    open();
    await heading(page, en.paid.title);
    assert.equal(posts, 1);
    await isPaidOnce(payment);
  }));

test('an answer that is lost on the way costs nothing: whoever loads the page again sees the outcome', () =>
  visit({}, async ({ page, context }) => {
    const payment = await order();
    await context.route(linkOf(payment), async (route) => {
      if (route.request().method() !== 'POST') return route.continue();
      await route.fetch({ maxRedirects: 0 });
      return route.abort();
    });
    await page.goto(linkOf(payment));
    await payWith(page);
    await page.waitForURL('chrome-error://**');
    await context.unroute(linkOf(payment));
    // The browser sends the form once more.
    await page.reload();
    await heading(page, en.paid.title);
    await isPaidOnce(payment);
  }));

test('a page that the browser kept is asked for anew when it is shown again', () =>
  visit({}, async ({ page }) => {
    const payment = await order();
    await page.goto(linkOf(payment));
    await payButton(page).waitFor();
    await send(await cardForm(payment));
    await Promise.all([
      page.waitForEvent('load'),
      page.evaluate('dispatchEvent(new PageTransitionEvent("pageshow", { persisted: true }))'),
    ]);
    await heading(page, en.paid.title);
    assert.equal(await payButton(page).count(), 0);
  }));

test('a form from before a decline in another tab shows the decline and sends no card', () =>
  visit({}, async ({ page, openTab }) => {
    const payment = await order();
    const other = await openTab();
    for (const tab of [page, other]) await tab.goto(linkOf(payment));
    await payWith(other, cards.fraud);
    await explains(other, en.declined.fraud_suspected);
    await payWith(page);
    await explains(page, en.declined.fraud_suspected);
    assert.deepEqual(await attemptsOf(payment.id), ['declined']);
  }));

test('who cancels at the bank is told that no money was taken, and may try again', () =>
  visit({}, async ({ page }) => {
    const payment = await order();
    await page.goto(linkOf(payment));
    await payWith(page, cards.challenge);
    await page.getByRole('button', { name: 'Cancel' }).click();
    await explains(page, en.declined['3d_secure_failed']);
    await page.getByText(en.card.attemptsLeft(4)).waitFor();
    const left = await read(payment);
    assert.equal(left.lastAttempt?.reason, '3d_secure_failed');
    assert.equal(left.status, 'pending');
    await payWith(page);
    await heading(page, en.paid.title);
    await read(payment);
  }));

test('three wrong codes at the bank are one declined try', () =>
  visit({}, async ({ page }) => {
    const payment = await order();
    await page.goto(linkOf(payment));
    await payWith(page, cards.challenge);
    await answerBank(page, '0000');
    await page.getByText('2 tries are left.').waitFor();
    await answerBank(page, '');
    await page.getByText('One try is left.').waitFor();
    await answerBank(page, '4321');
    await explains(page, en.declined['3d_secure_failed']);
    assert.deepEqual(await attemptsOf(payment.id), ['declined']);
    assert.equal((await read(payment)).lastAttempt?.reason, '3d_secure_failed');
  }));

test('while the bank waits, nobody can pay otherwise, give up or end it by the way back', () =>
  visit({}, async (tabs) => {
    const { page } = tabs;
    const payment = await order();
    await page.goto(linkOf(payment));
    await payWith(page, cards.challenge);
    await page.waitForURL('**/sandbox/acs/*');
    const other = await tabs.openTab();
    for (const path of ['', '/wallet', '/wallet/confirm', '/give-up', '/return']) {
      await other.goto(`${linkOf(payment)}${path}`);
      await heading(other, en.bank.title);
    }
    const link = new URL(linkOf(payment)).pathname;
    await send({ action: `${linkOf(payment)}/give-up`, fields: {} });
    await send({ action: `${linkOf(payment)}/wallet/confirm`, fields: { attempts: '1', csrf: '' } });
    assert.equal((await call(service, 'POST', `/v1/payments/${payment.id}/cancel`)).statusCode, 409);
    assert.equal((await service.app.inject({ url: `${link}/status` })).statusCode, 200);
    assert.deepEqual(await attemptsOf(payment.id), ['challenge']);
    await answerBank(page);
    await heading(page, en.paid.title);
    await isPaidOnce(payment);
  }));

test('a wallet form that is sent again, or twenty times at once, pays once', async () => {
  const owner = await person(1000n);
  const first = await signedIn(owner, await order());
  const form = first.form();
  assert.equal((await first.confirm(form)).statusCode, 303);
  assert.equal(isPaying(first.visitor), false);
  for (let times = 0; times < 3; times++) assert.equal((await first.confirm(form)).statusCode, 303);
  await isPaidOnce(first.payment);

  const second = await signedIn(owner, await order());
  const cookies = new Map(second.visitor.cookies);
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => {
      const tab = new Visitor(service);
      for (const [name, value] of cookies) tab.cookies.set(name, value);
      return tab.post(second.form().action, second.form().fields);
    }),
  );
  assert.deepEqual([...new Set(answers.map(({ statusCode }) => statusCode))], [303]);
  await isPaidOnce(second.payment);
  assert.equal(await walletOf(owner.id), '80000');
});

test('a wallet payment that takes longer than we promise is not known for now, and is made once', async () => {
  const owner = await person(300n);
  const { payment, form, confirm, visitor } = await signedIn(owner, await order());
  await service.db.run(sql`create function checkout.slow_for_test() returns trigger language plpgsql as
    $$ begin perform pg_sleep(4); return new; end $$`);
  await service.db.run(sql`create trigger slow_for_test before update on checkout.payments
    for each row execute function checkout.slow_for_test()`);
  const answer = await confirm(form());
  assert.equal(answer.statusCode, 503);
  assert.ok(answer.body.includes(payTexts.az.trouble.text));
  await until('the payment is made', async () => (await attemptsOf(payment.id)).length > 0);
  await service.db.run(sql`drop function checkout.slow_for_test cascade`);
  assert.equal((await confirm(form())).statusCode, 303);
  assert.ok((await visitor.get(linkOf(payment))).body.includes(en.paid.title));
  await isPaidOnce(payment);
  assert.equal(await walletOf(owner.id), '20000');
});

test('who has too little in the wallet is told so, and the single sign-on was asked once', async () => {
  const owner = await person(150n);
  const first = await signedIn(owner, await order());
  const second = await signedIn(owner, await order());
  assert.equal((await first.confirm(first.form())).statusCode, 303);
  const { walletSignIn } = service.areas.checkout.deps;
  const { ownerOf } = walletSignIn;
  let asked = 0;
  walletSignIn.ownerOf = (signedIn) => {
    asked++;
    return ownerOf(signedIn);
  };
  const answer = await second.confirm(second.form());
  walletSignIn.ownerOf = ownerOf;
  assert.ok(answer.body.includes(en.wallet.tooLittle.title), answer.body);
  // A second time would begin after the time that a customer is promised an answer within.
  assert.equal(asked, 1);
  assert.equal(await walletOf(owner.id), '5000');
});

test('why a sign-in to the wallet has failed stands in the log, with the code of the failure', async () => {
  const visitor = new Visitor(service);
  const payment = await order();
  const login = redirectOf(await visitor.get(`${linkOf(payment)}/wallet`));
  const back = new URL(login.searchParams.get('redirect_uri') ?? '');
  back.searchParams.set('state', login.searchParams.get('state') ?? '');
  back.searchParams.set('error', 'access_denied');
  await visitor.get(back.href);
  const line = service.logLines.findLast((one) => one.includes('sign-in to the wallet failed')) ?? '{}';
  assert.match(JSON.parse(line).errorCode, /^OAUTH_/);
});

test('a wallet form with a forged token, or without one, pays nothing', async () => {
  const owner = await person(100n);
  const { payment, form, confirm } = await signedIn(owner, await order());
  const { csrf = '', ...rest } = form().fields;
  for (const forged of ['', 'x', `${csrf}x`, csrf.slice(1), [...csrf].reverse().join('')]) {
    const answer = await confirm({ ...form(), fields: { ...rest, csrf: forged } });
    assert.equal(redirectOf(answer).pathname.endsWith('/wallet/confirm'), true, forged);
  }
  assert.equal((await confirm({ ...form(), fields: rest })).statusCode, 303);
  assert.deepEqual(await attemptsOf(payment.id), []);
  assert.equal(await walletOf(owner.id), '10000');
  await confirm(form());
  await isPaidOnce(payment);
});

test('a sign-in for one payment pays no other, and no other browser', async () => {
  const owner = await person(500n);
  const { visitor, form } = await signedIn(owner, await order());
  const other = await order();
  const asked = await visitor.get(`${linkOf(other)}/wallet/confirm`);
  assert.equal(redirectOf(asked).href, `${linkOf(other)}/wallet`);
  const forged = await visitor.post(`${linkOf(other)}/wallet/confirm`, form().fields);
  assert.equal(redirectOf(forged).href, `${linkOf(other)}?notice=not-signed-in`);
  assert.deepEqual(await attemptsOf(other.id), []);

  const stranger = new Visitor(service);
  assert.equal((await stranger.post(form().action, form().fields)).statusCode, 303);
  const [cookie = '', sealed = ''] = [...visitor.cookies].find(([name]) => name.includes('paying-')) ?? [];
  stranger.cookies.set(cookie, 'AAAA');
  assert.equal((await stranger.post(form().action, form().fields)).statusCode, 303);
  stranger.cookies.set(cookie, `${sealed.slice(0, -6)}AAAAAA`);
  assert.equal((await stranger.post(form().action, form().fields)).statusCode, 303);
  assert.equal(await walletOf(owner.id), '50000');
});

test('who signs out between sign-in and confirmation pays nothing, in whatever tab that happens', () =>
  visit({}, async (tabs) => {
    const { page } = tabs;
    const owner = await person(100n);
    const payment = await order();
    await openWallet(tabs, payment, owner.phone);
    const other = await tabs.openTab();
    await other.goto(`${sso}/auth/logout?ui_locales=en`);
    await other.locator('main form button').click();
    await other.locator('.sign.good').waitFor();
    await confirmButton(page).click();
    await explains(page, en.wallet.notSignedIn);
    assert.deepEqual(await attemptsOf(payment.id), []);
    assert.equal(await walletOf(owner.id), '10000');
    assert.equal((await read(payment)).status, 'pending');
  }));

test('a person who is shut out after signing in pays nothing', async () => {
  const owner = await person(100n);
  const { payment, confirm, form } = await signedIn(owner, await order());
  await deactivateUser(service.areas.identity.users, { userId: owner.id, actor: 'test' });
  const answer = await confirm(form());
  assert.equal(redirectOf(answer).searchParams.get('notice'), 'not-signed-in');
  assert.deepEqual(await attemptsOf(payment.id), []);
  assert.equal(await walletOf(owner.id), '10000');
});

test('a person who is merged after signing in signs in once more, and pays from the wallet that is theirs now', async () => {
  const [owner, survivor] = [await person(100n), await person(50n)];
  const { payment, visitor, confirm, form } = await signedIn(owner, await order());
  await service.areas.mergeUsers({
    survivorId: survivor.id,
    absorbedId: owner.id,
    phone: 'free',
    actor: 'test',
  });
  const answer = await confirm(form());
  assert.equal(redirectOf(answer).searchParams.get('notice'), 'not-signed-in');
  assert.deepEqual(await attemptsOf(payment.id), []);
  const again = await signedIn(survivor, payment, visitor);
  await again.confirm(again.form());
  await isPaidOnce(payment);
  assert.equal(await walletOf(survivor.id), '5000');
  assert.equal(await walletOf(owner.id), '0');
});

test('a callback without its cookie, or with a foreign, changed or old one, signs nobody in', async () => {
  const owner = await person(100n);
  const { back, visitor } = await comeBack(owner, await order());
  const [name = '', value = ''] =
    [...visitor.cookies].find(([one]) => one.startsWith('tollgate-sign-in-')) ?? [];
  assert.match(name, /^tollgate-sign-in-[0-9a-f]{12}$/);
  const { state } = Object.fromEntries(back.searchParams);
  const { walletKey } = world.deps;
  const leaving = { state, nonce: 'n', verifier: 'v', token: 't', lang: null };
  const now = service.clock.now().getTime();
  const sealed = (until: number, context: string) =>
    seal(walletKey, JSON.stringify({ ...leaving, until }), context).toString('base64url');
  const bare = name.replace('tollgate-', '');
  for (const [what, cookie] of Object.entries({
    'no cookie': undefined,
    'an empty one': '',
    'not ours': Buffer.from('{"state":"x"}').toString('base64url'),
    'a changed one': `${value.slice(0, -4)}${value.endsWith('AAAA') ? 'BBBB' : 'AAAA'}`,
    'one of the past': sealed(now - 1, bare),
    'one for another purpose': sealed(now + 60_000, 'paying'),
  })) {
    const stranger = new Visitor(service);
    if (cookie !== undefined) stranger.cookies.set(name, cookie);
    const answer = await stranger.get(back.href);
    assert.equal(answer.statusCode, 404, what);
    assert.equal(isPaying(stranger), false, what);
  }
  // The cookie of one sign-in under the name of another: the attack that would pay for somebody else.
  const attacker = await comeBack(await person(0n), await order());
  const swapped = new Visitor(service);
  swapped.cookies.set(
    name,
    [...attacker.visitor.cookies].find(([one]) => one.includes('sign-in'))?.[1] ?? '',
  );
  assert.equal((await swapped.get(back.href)).statusCode, 404);
  // Untouched it works, and works once.
  assert.equal(redirectOf(await visitor.get(back.href)).pathname.endsWith('/wallet/confirm'), true);
  const replayed = new Visitor(service);
  replayed.cookies.set(name, value);
  assert.equal(redirectOf(await replayed.get(back.href)).searchParams.get('notice'), 'not-signed-in');
  assert.equal(isPaying(replayed), false);
});

test('a callback with an error, another issuer, a foreign code or none leads back to the payment', async () => {
  const owner = await person(100n);
  for (const change of [
    (query: URLSearchParams) => query.set('code', 'x'),
    (query: URLSearchParams) => query.delete('code'),
    (query: URLSearchParams) => query.set('iss', 'https://evil.example'),
    (query: URLSearchParams) => query.delete('iss'),
    (query: URLSearchParams) => {
      query.delete('code');
      query.set('error', 'access_denied');
    },
  ]) {
    const payment = await order();
    const { back, visitor } = await comeBack(owner, payment);
    change(back.searchParams);
    const answer = redirectOf(await visitor.get(back.href));
    assert.equal(answer.href, `${linkOf(payment)}?notice=not-signed-in`);
    assert.equal(isPaying(visitor), false);
  }
});

test('sign-ins that are never finished do not pile up in the browser', async () => {
  const visitor = new Visitor(service);
  const link = linkOf(await order());
  for (let clicks = 0; clicks < 12; clicks++) await visitor.get(`${link}/wallet`);
  const kept = [...visitor.cookies].filter(([name, value]) => name.includes('sign-in') && value !== '');
  assert.equal(kept.length, 5);
});

test('a notice in the address is one of ours or nothing', async () => {
  const { pathname } = new URL(linkOf(await order()));
  for (const notice of ['<b>x</b>', 'constructor', '__proto__', 'toString', 'paid']) {
    const page = await service.app.inject({ url: `${pathname}?notice=${encodeURIComponent(notice)}` });
    assert.equal(page.statusCode, 200);
    assert.doesNotMatch(page.body, /<div[^>]*data-summary/);
  }
});

test('who needs more time gets it, and what was typed stays', () =>
  visit({}, async ({ page }) => {
    const payment = await order({ expiresIn: 600 });
    await page.goto(linkOf(payment));
    await fillCard(page, { number: cards.noFunds });
    const before = Date.parse((await read(payment)).expiresAt);
    await moreTime(page).click();
    await page.getByRole('status').getByText(en.time.given).waitFor();
    assert.equal(Date.parse((await read(payment)).expiresAt) - before, 600_000);
    assert.equal(await page.inputValue('#number'), cards.noFunds);
    assert.equal(await page.inputValue('#csc'), goodCard.csc);
    assert.match((await page.locator('[data-clock]').textContent()) ?? '', /^Time left: (20:00|19:)/);
    await moreTime(page).click();
    await page
      .getByText(/Time left: (30:00|29:)/)
      .first()
      .waitFor();
    await payButton(page).click();
    await explains(page, en.declined.insufficient_funds);
  }));

test('two presses for more time are one, with and without script', async () => {
  for (const javaScriptEnabled of [true, false]) {
    await visit({ javaScriptEnabled }, async ({ page }) => {
      const payment = await order({ expiresIn: 600 });
      const before = Date.parse(String((await read(payment)).expiresAt));
      await page.goto(linkOf(payment));
      const form = formsOf(await page.content()).find(({ action }) => action.includes('more-time'));
      await moreTime(page).dblclick();
      if (javaScriptEnabled) await page.getByRole('status').getByText(en.time.given).waitFor();
      else await page.getByText(/You have (19|20) minutes to pay/).waitFor();
      assert.equal(Date.parse((await read(payment)).expiresAt) - before, 600_000);
      // Nor does the same form do anything when it is sent again.
      for (let times = 0; times < 2; times++) if (form) await send(form);
      assert.equal(Date.parse((await read(payment)).expiresAt) - before, 600_000);
    });
  }
});

test('more time is given ten times and no more', () =>
  visit({ javaScriptEnabled: false }, async ({ page }) => {
    const payment = await order({ expiresIn: 600 });
    const before = Date.parse((await read(payment)).expiresAt);
    await page.goto(linkOf(payment));
    for (let times = 0; times < 10; times++) {
      await moreTime(page).click();
      await page
        .locator(`input[name=extensions][value="${times + 1}"], .time:not(:has(form))`)
        .waitFor({ state: 'attached' });
    }
    assert.equal(await moreTime(page).count(), 0);
    assert.equal(Date.parse((await read(payment)).expiresAt) - before, 10 * 600_000);
    await send({ action: `${linkOf(payment)}/more-time`, fields: { extensions: '10' } });
    assert.equal(Date.parse((await read(payment)).expiresAt) - before, 10 * 600_000);
  }));

test('more time ends a day after the order, and nobody is offered more', () =>
  visit({}, async ({ page }) => {
    const payment = await order({ expiresIn: 50_000 });
    await page.goto(linkOf(payment));
    await moreTime(page).click();
    await page.getByRole('status').getByText(en.time.given).waitFor();
    assert.equal(await moreTime(page).isVisible(), false);
    const { createdAt, expiresAt } = (await read(payment)) as unknown as Record<string, string>;
    assert.equal(Date.parse(String(expiresAt)) - Date.parse(String(createdAt)), 24 * 3600_000);
    await page.reload();
    assert.equal(await moreTime(page).count(), 0);
  }));

// The clock stands still from here on.

test('a bank that is never answered ends the try after ten minutes, and the customer may try again', () =>
  visit({}, async ({ page }) => {
    const payment = await order();
    await page.goto(linkOf(payment));
    await payWith(page, cards.challenge);
    await page.waitForURL('**/sandbox/acs/*');
    service.clock.move(10 * 60_000);
    await answerBank(page);
    await explains(page, en.declined['3d_secure_failed']);
    assert.deepEqual(await attemptsOf(payment.id), ['declined']);
    await payWith(page);
    await heading(page, en.paid.title);
    await read(payment);
  }));

test('a customer who leaves for the bank and never comes back finds the try ended, or the time up', () =>
  visit({}, async ({ page }) => {
    const [long, short] = [await order(), await order({ expiresIn: 300 })];
    for (const payment of [long, short]) {
      await page.goto(linkOf(payment));
      await payWith(page, cards.challenge);
      await page.waitForURL('**/sandbox/acs/*');
    }
    service.clock.move(6 * 60_000);
    await page.goto(linkOf(short));
    // Its time is over, but the try that was begun before still counts.
    await heading(page, en.bank.title);
    service.clock.move(5 * 60_000);
    await world.sweepAfter(0);
    await page.goto(linkOf(long));
    await explains(page, en.declined['3d_secure_failed']);
    await page.goto(linkOf(short));
    await heading(page, en.canceled.expired_on_confirmation.title);
    assert.equal((await read(short)).cancellationDetails?.reason, 'expired_on_confirmation');
    assert.equal((await read(long)).status, 'pending');
  }));

test('more time is not given when it is over, and the page then says that it is', () =>
  visit({}, async ({ page }) => {
    const payment = await order({ expiresIn: 60 });
    await page.goto(linkOf(payment));
    service.clock.move(59_999);
    const early = formsOf((await service.app.inject({ url: new URL(linkOf(payment)).pathname })).body);
    assert.equal(
      early.some(({ action }) => action.endsWith('/more-time')),
      true,
    );
    service.clock.move(1);
    await moreTime(page).click();
    await heading(page, en.canceled.expired_on_confirmation.title);
    assert.equal((await read(payment)).cancellationDetails?.reason, 'expired_on_confirmation');
  }));

test('a sign-in that is older than five minutes confirms nothing', async () => {
  const owner = await person(100n);
  const { payment, confirm, form, visitor } = await signedIn(owner, await order());
  service.clock.move(5 * 60_000);
  // To a page of ours: the policy lets no form lead to another host.
  assert.equal(redirectOf(await confirm(form())).href, `${linkOf(payment)}?notice=not-signed-in`);
  assert.equal(
    redirectOf(await visitor.get(`${linkOf(payment)}/wallet/confirm`)).href,
    `${linkOf(payment)}/wallet`,
  );
  assert.deepEqual(await attemptsOf(payment.id), []);
  assert.equal(await walletOf(owner.id), '10000');
});

async function isPaidOnce(payment: PaymentAnswer): Promise<PaymentAnswer> {
  assert.deepEqual(await attemptsOf(payment.id), ['approved']);
  const paid = await read(payment);
  assert.equal(paid.status, 'succeeded');
  assert.equal(paid.capturedAmount.value, '100.00');
  return paid;
}

function moreTime(page: Page) {
  return page.getByRole('button', { name: en.time.more });
}

/** The card form of a payment as a browser would send it now. */
async function cardForm(payment: PaymentAnswer, number: string = cards.approved): Promise<Form> {
  const form = cardFormOf((await service.app.inject({ url: new URL(linkOf(payment)).pathname })).body);
  if (!form) throw new Error(`payment ${payment.id} takes no card now`);
  return { action: form.action, fields: { ...form.fields, ...goodCard, number } };
}

function send({ action, fields }: Form): Promise<Answer> {
  return new Visitor(service).post(action, fields);
}

function isPaying(visitor: Visitor): boolean {
  return [...visitor.cookies.keys()].some((name) => name.startsWith('tollgate-paying-'));
}
