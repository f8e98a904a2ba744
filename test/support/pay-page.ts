import assert from 'node:assert/strict';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { topUpPosting } from '../../src/checkout/domain/posting.ts';
import { sweep } from '../../src/checkout/jobs.ts';
import { payTexts } from '../../src/checkout/pages/pay-texts.ts';
import { postForSure } from '../../src/checkout/store/ledger.ts';
import type { UserId } from '../../src/identity/domain/user.ts';
import { sql } from '../../src/platform/db.ts';
import { startTestApp } from './app.ts';
import { assertBooks } from './books.ts';
import { startBrowser } from './browser.ts';
import { freePort } from './free-port.ts';
import { call, cards, createPayment, order, type PaymentAnswer } from './merchant.ts';
import { demo } from './partner.ts';
import { addPerson, testPhonesSetting } from './registered.ts';
import { startShop } from './shop.ts';
import { inBrowser, type Tabs } from './watched-tab.ts';

export const { en } = payTexts;

export type Person = { id: UserId; phone: string };

/** The service, a shop and a browser: what a test of the payment page begins with. To be called above the first test. */
export async function startPayPage(
  options: { env?: (port: number) => Record<string, string>; shopHost?: string } = {},
) {
  const port = await freePort();
  const service = await startTestApp({
    PORT: String(port),
    TEST_PHONES: testPhonesSetting,
    ...options.env?.(port),
  });
  await service.app.listen({ port, host: '127.0.0.1' });
  const shop = await startShop(options.shopHost);
  await service.db.run(sql`
    update checkout.merchants set requests_per_second = 1000000,
      return_url_origins = return_url_origins || array[${shop.origin}]::text[]`);
  const browser = await startBrowser();
  const { urls } = service.config.server;
  const origins = [...Object.values(urls).map((url) => new URL(url).origin), shop.origin];
  const { deps } = service.areas.checkout;

  return {
    service,
    shop,
    browser,
    deps,

    visit: (options: BrowserContextOptions, story: (tabs: Tabs) => Promise<void>) =>
      inBrowser(browser, { ...options, origins }, story),

    /** A payment of 100.00 AZN at the shop, in English. */
    order: (changes: object = {}, confirmation: object = {}): Promise<PaymentAnswer> =>
      createPayment(service, {
        confirmation: { ...order.confirmation, returnUrl: shop.returnUrl, locale: 'en', ...confirmation },
        ...changes,
      }),

    /** Does what waits for later, as if it were so many seconds later; the clock of everybody else stays. */
    sweepAfter: (seconds: number) =>
      sweep({ ...deps, now: () => new Date(service.clock.now().getTime() + seconds * 1000) }),

    /** A person with so much in their wallet. */
    async person(value: bigint, name = 'Nigar'): Promise<Person> {
      const { id, phone } = await addPerson(service, { firstName: name, lastName: 'Quliyeva' });
      if (value > 0n) {
        const amount = { minor: value * 100n, currency: 'AZN' };
        const topUp = topUpPosting({ id: deps.newId(), userId: id, amount, source: 'test' });
        await service.db.transaction((tx) => postForSure(tx, topUp, service.clock.now()));
      }
      return { id, phone };
    },

    async walletOf(owner: string): Promise<string> {
      const found = await service.db.maybeOne<{ balance: bigint }>(sql`
        select balance from checkout.ledger_accounts
        where owner = ${owner} and kind = 'wallet' and currency = 'AZN'`);
      return String(found?.balance ?? 0n);
    },

    async attemptsOf(paymentId: string): Promise<string[]> {
      const rows = await service.db.many<{ status: string }>(sql`
        select status from checkout.attempts where payment_id = ${paymentId} order by started_at, attempt_id`);
      return rows.map(({ status }) => status);
    },

    /** The payment as its merchant reads it; the books are right as well. */
    async read(payment: { id: string }): Promise<PaymentAnswer & { expiresAt: string }> {
      const answer = await call(service, 'GET', `/v1/payments/${payment.id}`);
      assert.equal(answer.statusCode, 200, answer.body);
      await assertBooks(service);
      return answer.json<PaymentAnswer & { expiresAt: string }>();
    },

    /** What the merchant has, in minor units. */
    async balance(): Promise<number> {
      const { balances } = (await call(service, 'GET', '/v1/balance')).json<{
        balances: { currency: string; available: string }[];
      }>();
      return Number(balances.find(({ currency }) => currency === 'AZN')?.available.replace('.', '') ?? 0);
    },
  };
}

export const linkOf = (payment: PaymentAnswer) => payment.confirmation.confirmationUrl;

export const goodCard = { number: cards.approved, expiry: '12/30', csc: '123', holder: 'A Customer' };

export async function fillCard(page: Page, typed: Partial<typeof goodCard> = {}): Promise<void> {
  for (const [field, value] of Object.entries({ ...goodCard, ...typed })) {
    await page.fill(`#${field}`, value);
  }
}

/** From here on time passes on the page only when the test lets it. */
export async function stopClock(page: Page): Promise<void> {
  await page.clock.install();
  await page.clock.pauseAt(Date.now() + 1_000);
}

export const payButton = (page: Page) => page.locator('form[data-card] button[type=submit]');

/** The card form, filled in and sent. */
export async function payWith(page: Page, number: string = cards.approved): Promise<void> {
  await fillCard(page, { number });
  await payButton(page).click();
}

/** At the page of the sandbox's bank. */
export async function answerBank(page: Page, code = '1234'): Promise<void> {
  await page.waitForURL('**/sandbox/acs/*');
  await page.fill('#code', code);
  await page.getByRole('button', { name: 'Confirm' }).click();
}

/** At the pages of the single sign-on, in whatever language. */
export async function signIn({ page, script }: Pick<Tabs, 'page' | 'script'>, phone: string): Promise<void> {
  await page.fill('#phone', phone);
  await page.locator('form[action$="/auth/login"] button').click();
  await page.waitForURL('**/auth/code*');
  await page.locator('#code').pressSequentially(demo.code);
  // With script the sixth digit sends the form.
  if (!script) await page.locator('form[action$="/auth/code"] button').click();
  await page.waitForURL('**/wallet/confirm*');
}

export const walletLink = (page: Page) => page.locator('a.wallet');

/** From the payment page through the login to the page that asks whether to pay from the wallet. */
export async function openWallet(
  tabs: Pick<Tabs, 'page' | 'script'>,
  payment: PaymentAnswer,
  phone: string,
): Promise<void> {
  await tabs.page.goto(linkOf(payment));
  await walletLink(tabs.page).click();
  await signIn(tabs, phone);
}

export const confirmButton = (page: Page) =>
  page.locator('form[action*="/wallet/confirm"] button[type=submit]');

export async function heading(page: Page, text: string): Promise<void> {
  await page.getByRole('heading', { level: 1, name: text, exact: true }).waitFor();
}

/** The explanation above the form, which says at once whether money was taken. */
export async function explains(page: Page, told: { title: string; text: string }): Promise<void> {
  const alert = page.getByRole('alert').filter({ hasText: told.title });
  await alert.waitFor();
  assert.ok((await alert.textContent())?.includes(told.text), `${told.title}: ${await alert.textContent()}`);
}
