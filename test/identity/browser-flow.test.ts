import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { catalogues } from '../../src/identity/pages/texts.ts';
import { languages } from '../../src/platform/languages.ts';
import { startTestApp } from '../support/app.ts';
import { startBrowser } from '../support/browser.ts';
import { focusIsOn, tabTo } from '../support/by-keyboard.ts';
import { freePort } from '../support/free-port.ts';
import { claimsOf } from '../support/partner.ts';
import { inBrowser, type Tabs } from '../support/watched-tab.ts';
import { startWebPartner } from '../support/web-partner.ts';

const people = Array.from({ length: 40 }, (_, at) => `+9945533300${String(at).padStart(2, '0')}`);
const inactive = '+994500000003';
const port = await freePort();
const service = await startTestApp({ PORT: String(port), TEST_PHONES: [inactive, ...people].join(',') });
await service.app.listen({ port, host: '127.0.0.1' });
const { sso } = service.config.server.urls;
const partner = await startWebPartner();
const shop = await partner.register(service, { name: 'Shop' });
const library = await partner.register(service, { name: 'Library' });
const stranger = await partner.register(service, { name: 'Stranger', audience: 'external' });
const browser = await startBrowser();

let peopleUsed = 0;
const code = '111111';
const { en } = catalogues;

for (const javaScriptEnabled of [true, false]) {
  const how = javaScriptEnabled ? 'with script' : 'without script';

  for (const language of languages) {
    test(`a person signs in, consents and arrives in ${language}, ${how}`, () =>
      visit({ javaScriptEnabled }, async (tabs) => {
        const { page } = tabs;
        const texts = catalogues[language];
        const phone = nextPerson();
        await page.goto(partner.start(stranger, { ui_locales: language }));
        await speaks(page, language, texts.phone.title);
        await submitPhone(page, phone);
        await speaks(page, language, texts.code.title);
        await submitCode(tabs, code);
        await page.waitForURL('**/auth/consent*');
        await speaks(page, language, texts.consent.title);
        await page.getByRole('button', { name: texts.consent.allow }).click();
        await arrives(page, phone);
      }));
  }

  test(`the language can be changed on every page, and nothing is lost by it, ${how}`, () =>
    visit({ javaScriptEnabled }, async (tabs) => {
      const { page } = tabs;
      const phone = nextPerson();
      await page.goto(partner.start(stranger, { ui_locales: 'az', login_hint: phone }));
      await switchTo(page, 'ru');
      await speaks(page, 'ru', catalogues.ru.phone.title);
      assert.equal(await page.inputValue('#phone'), phone);
      await submitPhone(page, phone);
      await speaks(page, 'ru', catalogues.ru.code.title);
      await switchTo(page, 'en');
      await speaks(page, 'en', en.code.title);
      await submitCode(tabs, code);
      await page.waitForURL('**/auth/consent*');
      await switchTo(page, 'az');
      await speaks(page, 'az', catalogues.az.consent.title);
      await page.getByRole('button', { name: catalogues.az.consent.allow }).click();
      await arrives(page, phone);
    }));

  test(`back and reload do no harm at any step, ${how}`, () =>
    visit({ javaScriptEnabled }, async (tabs) => {
      const { page } = tabs;
      const phone = nextPerson();
      await page.goto(partner.start(stranger));
      await page.reload();
      await submitPhone(page, phone);
      await page.reload();
      await page.goBack();
      await heading(page, en.phone.title);
      await page.goForward();
      await heading(page, en.code.title);
      await page.goBack();
      await submitPhone(page, phone);

      await submitCode(tabs, '222222');
      await page.getByText('You have 4 attempts left').waitFor();
      // To load the refusal again is to send the same wrong code again.
      await page.reload();
      await page.getByText('You have 3 attempts left').waitFor();
      await page.goBack();
      await heading(page, en.code.title);
      await submitCode(tabs, code);

      await heading(page, en.consent.title);
      await page.reload();
      await heading(page, en.consent.title);
      // Whoever has proven the number is not asked for it again.
      await page.goBack();
      await heading(page, en.consent.title);
      await page.getByRole('button', { name: en.consent.allow }).click();
      await arrives(page, phone);

      await page.reload();
      await heading(page, `Welcome ${phone}`);
      // The pages behind have nothing left to ask, so they lead to the partner once more, with a code that works.
      await page.goBack();
      await arrives(page, phone);
    }));

  test(`two clicks on a button are one, ${how}`, () =>
    visit({ javaScriptEnabled }, async (tabs) => {
      const { page } = tabs;
      const phone = nextPerson();
      await page.goto(partner.start(stranger));
      await page.fill('#phone', phone);
      await page.getByRole('button', { name: en.phone.submit }).dblclick();
      // Not for the address: the second click breaks the first one's loading off.
      await heading(page, en.code.title);
      if (javaScriptEnabled) await page.locator('#code').pressSequentially(code);
      else {
        await page.fill('#code', code);
        await page.getByRole('button', { name: en.code.submit }).dblclick();
      }
      await page.getByRole('button', { name: en.consent.allow }).dblclick();
      await arrives(page, phone);
    }));

  test(`the number and the code are refused next to their fields, and what was typed stays, ${how}`, () =>
    visit({ javaScriptEnabled }, async (tabs) => {
      const { page } = tabs;
      const phone = nextPerson();
      await page.goto(partner.start(shop));
      for (const [typed, error] of [
        ['', en.phone.missing],
        ['12-34', en.phone.malformed],
        ['+1 202 555 0143', en.phone.countryNotServed],
      ] as const) {
        await page.fill('#phone', typed);
        await page.getByRole('button', { name: en.phone.submit }).click();
        await page.getByRole('alert').getByText(error.title).waitFor();
        assert.equal(await page.locator('#phone-error').textContent(), error.text);
        assert.equal(await page.inputValue('#phone'), typed);
      }
      await submitPhone(page, phone);

      await page.fill('#code', '123');
      await page.getByRole('button', { name: en.code.submit }).click();
      await page.getByRole('alert').getByText(en.code.malformed.title).waitFor();
      for (const left of [4, 3]) {
        await submitCode(tabs, '222222');
        await page.locator('#code-error').getByText(`You have ${left} attempts left`).waitFor();
      }
      await submitCode(tabs, code);
      await arrives(page, phone);
    }));
}

test('two tabs that were opened before the login finish in reverse order, and both partners get their code', () =>
  visit({}, async (tabs) => {
    const phone = nextPerson();
    const [first, second] = [tabs.page, await tabs.openTab()];
    await first.goto(partner.start(shop));
    await second.goto(partner.start(library));
    await submitPhone(second, phone);
    await submitCode({ ...tabs, page: second }, code);
    await arrives(second, phone);
    await first.fill('#phone', phone);
    await first.getByRole('button', { name: en.phone.submit }).click();
    await arrives(first, phone);
    const [earlier, later] = partner.arrivals.slice(-2);
    assert.equal(earlier?.tokens?.session_state, later?.tokens?.session_state);
    assert.notEqual(earlier?.state, later?.state);
  }));

test('two tabs that both wait for the code finish in reverse order with one code', () =>
  visit({}, async (tabs) => {
    const phone = '+994552220001';
    const [first, second] = [tabs.page, await tabs.openTab()];
    await first.goto(partner.start(shop));
    await second.goto(partner.start(library));
    await submitPhone(first, phone);
    await submitPhone(second, phone);
    await second.getByRole('status').getByText(en.code.alreadyOnItsWay).waitFor();
    assert.equal(textsTo(phone).length, 1);
    await submitCode({ ...tabs, page: second }, codeSentTo(phone));
    await arrives(second, phone);
    await submitCode({ ...tabs, page: first }, codeSentTo(phone));
    await arrives(first, phone);
  }));

test('two tabs of two people end with the one who came last, and the earlier code page still works', () =>
  visit({}, async (tabs) => {
    const [one, other] = [nextPerson(), nextPerson()];
    const [first, second] = [tabs.page, await tabs.openTab()];
    await first.goto(partner.start(shop));
    await submitPhone(first, one);
    await second.goto(partner.start(shop));
    await submitPhone(second, other);
    await submitCode({ ...tabs, page: second }, code);
    await arrives(second, other);
    await submitCode(tabs, code);
    await arrives(first, one);
  }));

test('a page whose browser was given a new name by another tab starts again with one click', () =>
  visit({}, async (tabs) => {
    const phone = nextPerson();
    const [first, second] = [tabs.page, await tabs.openTab()];
    await first.goto(partner.start(shop));
    // Two tabs that a new browser opens at the same instant both come without a cookie: the later answer wins.
    await tabs.context.clearCookies({ name: 'tollgate-browser' });
    await second.goto(partner.start(library));
    await submitPhone(second, phone);
    await submitCode({ ...tabs, page: second }, code);
    await arrives(second, phone);
    await first.fill('#phone', phone);
    await first.getByRole('button', { name: en.phone.submit }).click();
    await heading(first, en.messages.other_browser.title);
    await first.getByRole('link', { name: en.actions.startAgain }).click();
    await arrives(first, phone);
  }));

test('a browser that comes back keeps its name for another day', () =>
  visit({}, async ({ page, context }) => {
    await page.goto(partner.start(shop));
    const [cookie] = await context.cookies();
    assert.equal(cookie?.name, 'tollgate-browser');
    const soon = Date.now() / 1000 + 120;
    await context.addCookies([{ ...cookie, expires: soon }]);
    await page.goto(partner.start(shop));
    const [renewed] = await context.cookies();
    assert.equal(renewed?.value, cookie.value);
    assert.ok((renewed?.expires ?? 0) > soon);
  }));

test('an external partner is allowed once and not asked about again, until it asks for it', () =>
  visit({}, async (tabs) => {
    const { page } = tabs;
    const phone = nextPerson();
    await page.goto(partner.start(stranger));
    await submitPhone(page, phone);
    await submitCode(tabs, code);
    await page.getByRole('button', { name: en.consent.allow }).click();
    await arrives(page, phone);
    await page.goto(partner.start(stranger));
    await arrives(page, phone);
    await page.goto(partner.start(stranger, { prompt: 'consent' }));
    await heading(page, en.consent.title);
    await page.getByRole('button', { name: en.consent.allow }).click();
    await arrives(page, phone);
  }));

test('an external partner that is denied gets nothing, and asks again the next time', () =>
  visit({}, async (tabs) => {
    const { page } = tabs;
    const phone = nextPerson();
    await page.goto(partner.start(stranger));
    await submitPhone(page, phone);
    await submitCode(tabs, code);
    await page.getByRole('button', { name: en.consent.deny }).click();
    await heading(page, 'Refused: access_denied');
    assert.equal(partner.arrivals.at(-1)?.parameters.get('code'), null);
    await page.goto(partner.start(stranger, { prompt: 'none' }));
    await heading(page, 'Refused: consent_required');
    await page.goto(partner.start(stranger));
    await heading(page, en.consent.title);
    await page.getByRole('button', { name: en.consent.deny }).click();
    await heading(page, 'Refused: access_denied');
    // Back leads to the question, which can still be answered otherwise.
    await page.goBack();
    await heading(page, en.consent.title);
    await page.getByRole('button', { name: en.consent.allow }).click();
    await arrives(page, phone);
  }));

test('without script a new code asked for too early says that one is on its way', () =>
  visit({ javaScriptEnabled: false }, async (tabs) => {
    const { page } = tabs;
    const phone = '+994552220003';
    await page.goto(partner.start(shop));
    await submitPhone(page, phone);
    await page.getByRole('button', { name: en.code.resend }).click();
    await page.getByRole('status').getByText(en.code.alreadyOnItsWay).waitFor();
    assert.equal(textsTo(phone).length, 1);
    await submitCode(tabs, codeSentTo(phone));
    await arrives(page, phone);
  }));

test('a mistyped number can be changed, and the person can turn back to the partner', () =>
  visit({}, async (tabs) => {
    const { page } = tabs;
    const [mistyped, phone] = [nextPerson(), nextPerson()];
    await page.goto(partner.start(shop));
    await submitPhone(page, mistyped);
    await page.getByRole('link', { name: en.code.anotherNumber }).click();
    await heading(page, en.phone.title);
    assert.equal(await page.inputValue('#phone'), mistyped);
    await page.getByRole('link', { name: en.phone.cancel }).click();
    await heading(page, 'Refused: access_denied');
    await page.goBack();
    await submitPhone(page, phone);
    await submitCode(tabs, code);
    await arrives(page, phone);
  }));

test('an inactive account is refused after its code and can go on with another number', () =>
  visit({}, async (tabs) => {
    const { page } = tabs;
    const phone = nextPerson();
    await page.goto(partner.start(shop));
    await submitPhone(page, inactive);
    await submitCode(tabs, code);
    await heading(page, en.messages.account_inactive.title);
    await page.getByRole('link', { name: en.actions.anotherNumber }).click();
    await submitPhone(page, phone);
    await submitCode(tabs, code);
    await arrives(page, phone);
  }));

for (const javaScriptEnabled of [true, false]) {
  const how = javaScriptEnabled ? 'with script' : 'without script';

  test(`logout with a hint asks nothing, and one without asks first, ${how}`, () =>
    visit({ javaScriptEnabled }, async (tabs) => {
      const { page } = tabs;
      const phone = nextPerson();
      await logInAt(tabs, shop, phone);
      await page.getByRole('link', { name: 'Sign out', exact: true }).click();
      await heading(page, 'Goodbye out-1');
      await page.goto(partner.start(shop, { prompt: 'none' }));
      await heading(page, 'Refused: login_required');

      await logInAt(tabs, shop, phone);
      await page.getByRole('link', { name: 'Sign out without a hint' }).click();
      await heading(page, en.logout.title);
      await page.reload();
      await page.getByRole('link', { name: en.logout.stay }).click();
      await heading(page, 'Goodbye out-1');
      await page.goto(partner.start(shop, { prompt: 'none' }));
      await arrives(page, phone);
      await page.getByRole('link', { name: 'Sign out without a hint' }).click();
      await page.getByRole('button', { name: en.logout.submit }).dblclick();
      await heading(page, 'Goodbye out-1');
      // Behind is the question, which nobody needs to answer any more.
      await page.goBack();
      await heading(page, en.logout.doneTitle);
      await page.getByRole('link', { name: en.actions.backTo('Shop') }).click();
      await heading(page, 'Goodbye out-1');
      await page.goto(partner.start(shop, { prompt: 'none' }));
      await heading(page, 'Refused: login_required');
    }));
}

test('logout that names nobody ends on a page of ours, however often it is asked for', () =>
  visit({}, async (tabs) => {
    const { page } = tabs;
    await logInAt(tabs, shop, nextPerson());
    await page.goto(`${sso}/auth/logout?ui_locales=en`);
    await page.getByRole('button', { name: en.logout.submit }).click();
    await heading(page, en.logout.doneTitle);
    await page.reload();
    await heading(page, en.logout.doneTitle);
    await page.goto(`${sso}/auth/logout?ui_locales=en`);
    await heading(page, en.logout.doneTitle);
  }));

test('a logout in one tab is seen by the next step of another', () =>
  visit({}, async (tabs) => {
    const { page } = tabs;
    const phone = nextPerson();
    await logInAt(tabs, shop, phone);
    const consent = await tabs.openTab();
    await consent.goto(partner.start(stranger));
    await heading(consent, en.consent.title);
    await page.getByRole('link', { name: 'Sign out', exact: true }).click();
    await heading(page, 'Goodbye out-1');
    await consent.getByRole('button', { name: en.consent.allow }).click();
    await heading(consent, en.phone.title);
    await submitPhone(consent, phone);
    await submitCode({ ...tabs, page: consent }, code);
    await consent.getByRole('button', { name: en.consent.allow }).click();
    await arrives(consent, phone);
  }));

test('a person with a session comes to a second partner without a page, also when it sends them by a form', () =>
  visit({}, async (tabs) => {
    const { page } = tabs;
    const phone = nextPerson();
    const shown: string[] = [];
    await logInAt(tabs, shop, phone);
    page.on('load', () => void shown.push(new URL(page.url()).pathname));
    await page.goto(partner.start(library));
    await arrives(page, phone);
    await page.goto(`${partner.origin}/start-by-form?client_id=${library}`);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await arrives(page, phone);
    await page.goto(partner.start(library, { prompt: 'none' }));
    await arrives(page, phone);
    assert.deepEqual([...new Set(shown)].sort(), ['/start-by-form', '/welcome']);
  }));

test('a person without a session is sent by a form to the login page, and logs in there', () =>
  visit({}, async (tabs) => {
    const { page } = tabs;
    const phone = nextPerson();
    await page.goto(`${partner.origin}/start-by-form?client_id=${shop}`);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await heading(page, en.phone.title);
    await page.reload();
    await submitPhone(page, phone);
    await submitCode(tabs, code);
    await arrives(page, phone);
  }));

test('prompt=login asks again in spite of a session, and prompt=none never asks', () =>
  visit({}, async (tabs) => {
    const { page } = tabs;
    const phone = nextPerson();
    await page.goto(partner.start(shop, { prompt: 'none' }));
    await heading(page, 'Refused: login_required');
    await logInAt(tabs, shop, phone);
    const before = partner.arrivals.at(-1);
    await page.goto(partner.start(shop, { prompt: 'login' }));
    await heading(page, en.phone.title);
    await page.reload();
    await submitPhone(page, phone);
    await page.reload();
    await submitCode(tabs, code);
    await arrives(page, phone);
    const again = partner.arrivals.at(-1);
    assert.equal(
      again?.tokens?.session_state,
      before?.tokens?.session_state,
      'the same person stays logged in elsewhere',
    );
    await page.goto(partner.start(shop, { prompt: 'none' }));
    await arrives(page, phone);
  }));

test('the keyboard alone is enough, from the number to the consent', () =>
  visit({}, async ({ page }) => {
    const phone = nextPerson();
    await page.goto(partner.start(stranger));
    await focusIsOn(page, '#phone');
    await page.keyboard.type('12');
    await page.keyboard.press('Enter');
    await focusIsOn(page, '[role=alert]');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await focusIsOn(page, '#phone');
    await page.keyboard.type(phone);
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await focusIsOn(page, '#code');
    await page.keyboard.type(code);
    await page.waitForURL('**/auth/consent*');
    await tabTo(page, `button:has-text("${en.consent.allow}")`);
    await page.keyboard.press('Enter');
    await arrives(page, phone);
  }));

test('the keyboard alone is enough without script, and to log out', () =>
  visit({ javaScriptEnabled: false }, async ({ page }) => {
    const phone = nextPerson();
    await page.goto(partner.start(shop));
    await focusIsOn(page, '#phone');
    await page.keyboard.type(phone);
    await page.keyboard.press('Enter');
    await focusIsOn(page, '#code');
    await page.keyboard.type(code);
    await page.keyboard.press('Enter');
    await arrives(page, phone);
    await page.goto(`${sso}/auth/logout?ui_locales=en`);
    await tabTo(page, `button:has-text("${en.logout.submit}")`);
    await page.keyboard.press('Enter');
    await heading(page, en.logout.doneTitle);
  }));

// The clock stands still from here on.

test('a page that was open for 31 minutes says so, and starts again with one click', () =>
  visit({}, async (tabs) => {
    const { page } = tabs;
    const phone = nextPerson();
    await page.goto(partner.start(shop));
    service.clock.move(31 * 60_000);
    await page.fill('#phone', phone);
    await page.getByRole('button', { name: en.phone.submit }).click();
    await heading(page, en.messages.page_expired.title);
    await page.getByRole('link', { name: en.actions.startAgain }).click();
    await heading(page, en.phone.title);
    await submitPhone(page, phone);
    service.clock.move(31 * 60_000);
    await submitCode(tabs, code);
    await heading(page, en.messages.page_expired.title);
    await page.getByRole('link', { name: en.actions.startAgain }).click();
    await submitPhone(page, phone);
    await submitCode(tabs, code);
    await arrives(page, phone);
  }));

test('a new code can be asked for once the minute is over, and the earlier one is dead', () =>
  visit({}, async (tabs) => {
    const { page } = tabs;
    const phone = '+994552220002';
    const resend = page.getByRole('button', { name: en.code.resend });
    await page.goto(partner.start(shop));
    await submitPhone(page, phone);
    const earlier = codeSentTo(phone);
    assert.ok(await resend.isDisabled());
    service.clock.move(61_000);
    await page.reload();
    await resend.click();
    await page.getByRole('status').getByText(en.code.sentAgain).waitFor();
    assert.ok(await resend.isDisabled());
    assert.equal(textsTo(phone).length, 2);
    await submitCode(tabs, earlier);
    await page.getByRole('alert').getByText(en.code.wrong(4).title).waitFor();
    await submitCode(tabs, codeSentTo(phone));
    await arrives(page, phone);
  }));

function nextPerson(): string {
  const phone = people[peopleUsed++];
  if (!phone) throw new Error('no test phone is left');
  return phone;
}

function visit(options: BrowserContextOptions, story: (tabs: Tabs) => Promise<void>): Promise<void> {
  return inBrowser(browser, { ...options, origins: [new URL(sso).origin, partner.origin] }, story);
}

async function heading(page: Page, text: string): Promise<void> {
  await page.getByRole('heading', { level: 1, name: text, exact: true }).waitFor();
}

async function speaks(page: Page, language: string, title: string): Promise<void> {
  await heading(page, title);
  assert.equal(await page.locator('html').getAttribute('lang'), language);
}

async function switchTo(page: Page, language: string): Promise<void> {
  await page.locator(`nav a[hreflang=${language}]`).click();
  await page.locator(`html[lang=${language}]`).waitFor();
}

async function submitPhone(page: Page, phone: string): Promise<void> {
  await page.fill('#phone', phone);
  await page.locator('form[action$="/auth/login"] button').click();
  await page.waitForURL('**/auth/code*');
}

/** With script the sixth digit sends the form. After a step back the browser has put the earlier code there again. */
async function submitCode({ page, script }: Pick<Tabs, 'page' | 'script'>, digits: string): Promise<void> {
  await page.fill('#code', '');
  await page.locator('#code').pressSequentially(digits);
  if (!script) await page.locator('form[action$="/auth/code"] button').click();
}

async function logInAt(tabs: Tabs, clientId: string, phone: string): Promise<void> {
  await tabs.page.goto(partner.start(clientId));
  await submitPhone(tabs.page, phone);
  await submitCode(tabs, code);
  await arrives(tabs.page, phone);
}

/** The partner has the tokens of this person for the request that this browser began. */
async function arrives(page: Page, phone: string): Promise<void> {
  // Not for the address: a second click breaks the first one's loading off.
  await heading(page, `Welcome ${phone}`);
  const arrival = partner.arrivals[Number(new URL(page.url()).searchParams.get('arrival'))];
  assert.equal(claimsOf(arrival?.tokens?.access_token ?? '').preferred_username, phone);
  assert.equal(arrival?.parameters.get('iss'), service.config.server.urls.base);
  assert.equal(arrival?.parameters.get('session_state'), arrival?.tokens?.session_state);
}

function textsTo(phone: string): string[] {
  return service.texts.filter((sent) => sent.phone === phone).map((sent) => sent.text);
}

function codeSentTo(phone: string): string {
  const found = /\b\d{6}\b/.exec(textsTo(phone).at(-1) ?? '')?.[0];
  if (!found) throw new Error(`no code was sent to ${phone}`);
  return found;
}
