import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { test } from 'node:test';
import fc from 'fast-check';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { contrastOf, shadesOf } from '../../src/checkout/domain/theme.ts';
import { setMerchantTheme } from '../../src/checkout/store/merchants.ts';
import { focusIsOn, tabTo } from '../support/by-keyboard.ts';
import { ringLogo } from '../support/logo.ts';
import { addMerchant, call, cards, type PaymentAnswer, payByCard } from '../support/merchant.ts';
import { demo } from '../support/partner.ts';
import { en, goodCard, heading, linkOf, startPayPage, stopClock, walletLink } from '../support/pay-page.ts';
import { type PayState, payStates } from '../support/pay-states.ts';

const axe = createRequire(import.meta.url).resolve('axe-core/axe.min.js');
const fitsItsWidth = 'document.documentElement.scrollWidth <= document.documentElement.clientWidth';
const low = `[...document.querySelectorAll('button, input:not([type=hidden]), a:not([href^="#"])')]
  .filter((one) => one.offsetParent && one.getBoundingClientRect().height < 44).map((one) => one.outerHTML)`;
const inputTops =
  '[...document.querySelectorAll(".two input")].map((one) => one.getBoundingClientRect().top)';

const { service, shop, browser, visit, order, read } = await startPayPage();
// What was signed in above the tests stays so.
service.clock.set(new Date());
const states = {
  en: await payStates(service, { returnUrl: shop.returnUrl, locale: 'en' }),
  az: await some('az'),
  ru: await some('ru'),
};

for (const [language, seen] of Object.entries(states)) {
  test(`no payment page in ${language} has an accessibility fault, scrolls sideways or has a small target`, () =>
    lookAt({}, async (page) => {
      for (const state of seen) {
        await page.emulateMedia({ colorScheme: 'light' });
        await open(page, state);
        await page.addScriptTag({ path: axe });
        assert.deepEqual(await faultsFoundByAxe(page), [], state.name);
        await page.emulateMedia({ colorScheme: 'dark' });
        // The scheme changes colours and nothing else.
        assert.deepEqual(await faultsFoundByAxe(page, ['color-contrast']), [], `${state.name} in dark`);
        assert.deepEqual(await page.evaluate(low), [], state.name);
        assert.equal(await page.evaluate(fitsItsWidth), true, `${state.name} at 360 pixels`);
        // A label of two lines does not push its input below the one beside it.
        const tops = (await page.evaluate(inputTops)) as number[];
        assert.ok(new Set(tops).size <= 1, `${state.name}: inputs of one row at ${tops}`);
        await page.evaluate('document.documentElement.style.fontSize = "200%"');
        assert.equal(await page.evaluate(fitsItsWidth), true, `${state.name} at twice the text size`);
      }
    }));
}

test('each page is one answer below 60 kB, asks nobody else, and is painted at once', (t) =>
  lookAt({ viewport: { width: 1280, height: 800 }, bypassCSP: false }, async (page) => {
    const asked: string[] = [];
    page.on('request', (request) => {
      if (!request.url().startsWith('data:')) asked.push(request.url());
    });
    for (const state of states.en.filter(({ act }) => !act)) {
      asked.length = 0;
      await page.context().addCookies(cookiesOf(state));
      const answer = await page.goto(state.url);
      await page.locator(state.landmark).first().waitFor();
      const [...requests] = asked;
      const weight = ((await answer?.body())?.length ?? 0) + headerBytes((await answer?.allHeaders()) ?? {});
      assert.deepEqual(requests, [state.url]);
      const own = new URL(state.url).origin;
      assert.deepEqual(
        asked.filter((url) => new URL(url).origin !== own),
        [],
      );
      assert.ok(weight < 60_000, `${state.name} weighs ${weight} bytes`);
      const paint = await page.evaluate(
        'performance.getEntriesByName("first-contentful-paint").map((one) => Math.round(one.startTime))[0]',
      );
      t.diagnostic(`${state.name}: ${weight} bytes, first contentful paint after ${paint} ms`);
    }
  }));

test('the keyboard alone is enough to be refused, to be declined, to pay by card and to go back to the shop', () =>
  visit({}, async ({ page }) => {
    const payment = await order();
    const { keyboard } = page;
    await stopClock(page);
    await page.goto(linkOf(payment));
    await tabTo(page, '#number');
    await keyboard.press('Enter');
    await focusIsOn(page, '[role=alert]');
    await keyboard.press('Tab');
    await keyboard.press('Enter');
    await focusIsOn(page, '#number');
    await fillByKeyboard(page, cards.declined);
    await page.locator('[data-summary]:focus').getByText(en.declined.general_decline.title).waitFor();
    await tabTo(page, '#number');
    await fillByKeyboard(page, cards.challenge);
    await page.waitForURL('**/sandbox/acs/*');
    await tabTo(page, '#code');
    await keyboard.type('1234');
    await keyboard.press('Enter');
    await heading(page, en.paid.title);
    await tabTo(page, '[data-stay]');
    await keyboard.press('Enter');
    await page.locator('.leave').waitFor({ state: 'hidden' });
    await tabTo(page, 'a.button');
    await keyboard.press('Enter');
    await page.waitForURL(`${shop.origin}/**`);
    assert.equal((await read(payment)).status, 'succeeded');
  }));

test('the keyboard alone is enough to ask for more time, to change the language and to pay from the wallet', () =>
  visit({}, async ({ page }) => {
    const payment = await order();
    const { keyboard } = page;
    await page.goto(linkOf(payment));
    await tabTo(page, '[data-more-time] button');
    await keyboard.press('Enter');
    await page.getByRole('status').getByText(en.time.given).waitFor();
    await tabTo(page, 'nav a[hreflang=ru]');
    await keyboard.press('Enter');
    await page.locator('html[lang=ru]').waitFor();
    await tabTo(page, 'a.wallet');
    await keyboard.press('Enter');
    await focusIsOn(page, '#phone');
    await keyboard.type(demo.phone);
    await keyboard.press('Enter');
    await focusIsOn(page, '#code');
    await keyboard.type(demo.code);
    await page.waitForURL('**/wallet/confirm*');
    await tabTo(page, '.actions form button');
    await keyboard.press('Enter');
    await page.locator('.sign.good').waitFor();
    assert.deepEqual((await read(payment)).paymentMethod, { type: 'wallet' });
  }));

test('the whole number is seen on a narrow phone, and a way to sign in that failed costs no try', () =>
  lookAt({ bypassCSP: false }, async (page) => {
    const payment = await order();
    await page.goto(`${linkOf(payment)}?notice=not-signed-in`);
    await page.getByText(en.wallet.notSignedIn.title).waitFor();
    assert.equal(await page.locator('.tries').count(), 0);
    for (const number of [cards.approved, '3782 822463 10005']) {
      await page.fill('#number', number);
      assert.notEqual(await page.locator('[data-brand]').textContent(), '');
      const hidden =
        'document.getElementById("number").scrollWidth - document.getElementById("number").clientWidth';
      assert.equal(await page.evaluate(hidden), 0, number);
    }
  }));

test('a merchant’s logo and colour change the page, and every text on it stays legible', () =>
  lookAt({}, async (page) => {
    // Colours that cannot be read as they are: too light, too dark, in between.
    for (const accent of ['#ffe600', '#101010', '#7f7f7f', '#ff5a1f']) {
      const merchant = await addMerchant(service, { name: 'Café Ədalət' });
      await setMerchantTheme(service.db, merchant.merchantId, { logo: ringLogo(64), accent });
      const payment = await orderOf(merchant);
      const failed = await orderOf(merchant);
      await payByCard(service, failed, cards.declined);
      const paid = await orderOf(merchant);
      await payByCard(service, paid);
      for (const [url, landmark] of [
        [linkOf(payment), 'form[data-card]'],
        [linkOf(failed), '.tries'],
        [linkOf(paid), '.sign.good'],
      ] as const) {
        await open(page, { name: accent, url, landmark });
        assert.equal(await page.evaluate('document.querySelector("img.logo").naturalWidth'), 64);
        await page.addScriptTag({ path: axe });
        for (const colorScheme of ['light', 'dark'] as const) {
          await page.emulateMedia({ colorScheme });
          const shown = await page.evaluate(
            'getComputedStyle(document.documentElement).getPropertyValue("--accent")',
          );
          assert.equal(shown, shadesOf(accent)[colorScheme].accent);
          assert.deepEqual(await faultsFoundByAxe(page, ['color-contrast']), [], `${accent} ${colorScheme}`);
        }
      }
    }
  }));

test('with the heaviest logo there may be, the page stays below 60 kB', async () => {
  const merchant = await addMerchant(service);
  const bytes = Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), Buffer.alloc(16_384 - 8, 7)]);
  const heaviest = `data:image/png;base64,${bytes.toString('base64')}`;
  await setMerchantTheme(service.db, merchant.merchantId, { logo: heaviest, accent: '#123456' });
  const { pathname } = new URL(linkOf(await orderOf(merchant)));
  const page = await service.app.inject({ url: pathname, headers: { 'accept-language': 'ru' } });
  assert.ok(page.body.includes(heaviest), 'the logo is on the page');
  assert.ok(Buffer.byteLength(page.body) < 60_000, `${Buffer.byteLength(page.body)} bytes`);
});

test('whatever colour a merchant has, its shades can be read in both schemes', () => {
  const colour = fc
    .integer({ min: 0, max: 0xffffff })
    .map((value) => `#${value.toString(16).padStart(6, '0')}`);
  const grounds = { light: ['#ffffff', '#f4f6f8'], dark: ['#18212b', '#10161d'] } as const;
  fc.assert(
    fc.property(colour, (wished) => {
      const both = shadesOf(wished);
      for (const scheme of ['light', 'dark'] as const) {
        const { accent, onAccent, deep, soft } = both[scheme];
        for (const ground of [...grounds[scheme], soft]) {
          assert.ok(contrastOf(accent, ground) >= 4.5, `${accent} on ${ground}, wished ${wished}`);
        }
        for (const ground of [accent, deep]) {
          assert.ok(contrastOf(onAccent, ground) >= 4.5, `${onAccent} on ${ground}, wished ${wished}`);
        }
      }
    }),
    { numRuns: 3000 },
  );
});

test('whatever a shop writes about an order is shown as text, however long its words are', () =>
  lookAt({ bypassCSP: false }, async (page) => {
    for (const text of [
      '"><script>document.title="taken"</script>',
      `' onfocus=document.title='taken' autofocus x='`,
      '&lt;b&gt; &amp;amp; {time} {count}',
      '👩‍👩‍👧‍👦 \u202eevil',
      'W'.repeat(64),
    ]) {
      const merchant = await addMerchant(service, { name: text });
      const payment = await orderOf(merchant, { description: text, merchantOrderId: text.slice(0, 64) });
      await open(page, { name: text, url: linkOf(payment), landmark: 'form[data-card]' });
      assert.equal(await page.evaluate('document.scripts.length'), 1);
      assert.equal((await page.title()).includes('Pay '), true, await page.title());
      assert.equal(await page.locator('.what').first().textContent(), text);
      assert.equal(await page.evaluate('document.querySelectorAll("[onfocus]").length'), 0);
      assert.equal(await page.evaluate(fitsItsWidth), true, text);
      assert.equal(await walletLink(page).isVisible(), true);
    }
  }));

/** In the languages beside the first: the form, a refused form and an ending. */
async function some(locale: string): Promise<PayState[]> {
  const confirmation = { returnUrl: shop.returnUrl, locale, type: 'REDIRECT' };
  const [waiting, paid] = [await order({ confirmation }), await order({ confirmation })];
  await payByCard(service, paid);
  const form = { name: 'form', url: linkOf(waiting), landmark: 'form[data-card]' };
  return [
    form,
    {
      ...form,
      name: 'form-faults',
      act: (page) => page.locator('form[data-card] button').click(),
    },
    { name: 'paid', url: linkOf(paid), landmark: '.sign.good' },
  ];
}

async function orderOf(
  merchant: Awaited<ReturnType<typeof addMerchant>>,
  changes: object = {},
): Promise<PaymentAnswer> {
  const answer = await call(service, 'POST', '/v1/payments', {
    authorization: merchant.authorization,
    body: { ...merchant.order, ...changes },
  });
  assert.equal(answer.statusCode, 200, answer.body);
  return answer.json<PaymentAnswer>();
}

/** A phone whose owner looks, and never arrives at the shop: the pages of an ending stay as long as they are looked at. */
async function lookAt(options: BrowserContextOptions, look: (page: Page) => Promise<void>): Promise<void> {
  // The checker is put into the page from outside, which the policy rightly forbids to everybody else.
  const context = await browser.newContext({
    viewport: { width: 360, height: 740 },
    locale: 'en',
    bypassCSP: true,
    ...options,
  });
  context.setDefaultTimeout(60_000);
  const complaints: string[] = [];
  const outside: string[] = [];
  const own = new URL(service.config.server.urls.checkout).origin;
  for (const origin of [shop.origin, 'http://localhost:4000']) {
    await context.route(`${origin}/**`, (route) => route.fulfill({ status: 204 }));
  }
  context.on('request', (request) => {
    const { origin, protocol } = new URL(request.url());
    if (![own, shop.origin, 'http://localhost:4000'].includes(origin) && protocol !== 'data:') {
      outside.push(request.url());
    }
  });
  context.on('weberror', (error) => complaints.push(error.error().message));
  context.on('console', (message) => {
    if (message.type() === 'error' && !/status of 404/.test(message.text())) complaints.push(message.text());
  });
  try {
    await look(await context.newPage());
    assert.deepEqual(complaints, []);
    assert.deepEqual(outside, []);
  } finally {
    await context.close();
  }
}

async function open(page: Page, state: PayState): Promise<void> {
  await page.context().addCookies(cookiesOf(state));
  await page.goto(state.url);
  await state.act?.(page);
  await page.locator(state.landmark).first().waitFor();
}

function cookiesOf({ cookies = {}, url }: PayState) {
  return Object.entries(cookies).map(([name, value]) => ({ name, value, url: new URL(url).origin }));
}

async function faultsFoundByAxe(page: Page, runOnly?: string[]): Promise<string[]> {
  const settings = JSON.stringify({ ...(runOnly ? { runOnly } : {}), resultTypes: ['violations'] });
  const script = `axe.run(${settings}).then((found) => found.violations.map((one) => one.id + ": " + one.nodes[0].html))`;
  return (await page.evaluate(script)) as string[];
}

function headerBytes(headers: Record<string, string>): number {
  return Object.entries(headers).reduce((sum, [name, value]) => sum + name.length + value.length + 4, 0);
}

/** From the number on, as somebody without a mouse fills the form in. */
async function fillByKeyboard(page: Page, number: string): Promise<void> {
  const { keyboard } = page;
  for (const text of [number.replaceAll(' ', ''), goodCard.expiry, goodCard.csc, goodCard.holder]) {
    await keyboard.type(text);
    await keyboard.press('Tab');
  }
  await keyboard.press('Enter');
}
