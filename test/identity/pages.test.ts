import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { afterEach, test } from 'node:test';
import type { BrowserContext, Page } from 'playwright-core';
import { loginPageStates, type SampleValues } from '../../scripts/preview-login-pages.ts';
import { CodePage, type CodeView } from '../../src/identity/pages/code-page.tsx';
import { ConsentPage } from '../../src/identity/pages/consent-page.tsx';
import { loginScript } from '../../src/identity/pages/login-script.ts';
import { PhonePage } from '../../src/identity/pages/phone-page.tsx';
import { catalogues } from '../../src/identity/pages/texts.ts';
import { pagePolicy, renderPage } from '../../src/platform/html.tsx';
import { chooseLanguage, languages } from '../../src/platform/languages.ts';
import { startBrowser } from '../support/browser.ts';
import { focusIsOn } from '../support/by-keyboard.ts';
import { until } from '../support/server.ts';

const origin = 'http://login.test';
const axe = createRequire(import.meta.url).resolve('axe-core/axe.min.js');
const fitsItsWidth = 'document.documentElement.scrollWidth <= document.documentElement.clientWidth';
const browser = await startBrowser();
afterEach(() => Promise.all(browser.contexts().map((context) => context.close())));

for (const language of languages) {
  test(`no login page in ${language} has an accessibility fault or scrolls sideways, in light and in dark`, async () => {
    // The checker is put into the page from outside, which the policy rightly forbids to everybody else.
    const { page, complaints, serve } = await openTab({ bypassCSP: true });
    for (const [name, markup] of Object.entries(loginPageStates(language))) {
      await page.emulateMedia({ colorScheme: 'light' });
      await serve(renderPage(markup));
      await page.addScriptTag({ path: axe });
      assert.deepEqual(await faultsFoundByAxe(page, {}), [], name);
      await page.emulateMedia({ colorScheme: 'dark' });
      // The scheme changes colours and nothing else.
      assert.deepEqual(await faultsFoundByAxe(page, { runOnly: ['color-contrast'] }), [], `${name} in dark`);
      assert.ok(await page.evaluate(fitsItsWidth), `${name} at 360 pixels`);
      await page.evaluate('document.documentElement.style.fontSize = "200%"');
      assert.ok(await page.evaluate(fitsItsWidth), `${name} at twice the text size`);
    }
    assert.deepEqual(complaints, []);
  });
}

test('everything that is pressed is at least 44 pixels high', async () => {
  const { page, serve } = await openTab();
  const low = `[...document.querySelectorAll('button, input:not([type=hidden]), a:not([href^="#"])')]
    .filter((one) => one.getBoundingClientRect().height < 44).map((one) => one.outerHTML)`;
  for (const [name, markup] of Object.entries(loginPageStates('az'))) {
    await serve(renderPage(markup));
    assert.deepEqual(await page.evaluate(low), [], name);
  }
});

const hostile = {
  'a script': '"><script>document.title="taken"</script>',
  'a handler': `' onfocus=document.title='taken' autofocus x='`,
  'a handler in double quotes': '" onfocus="document.title=1" autofocus x="',
  'an entity': '&lt;b&gt; &amp;amp;',
  'emoji and a right-to-left override': '👩‍👩‍👧‍👦 \u202eevil \u0000',
  'two kilobytes in one word': 'W'.repeat(2048),
};

/** Between them they show every value in every place. */
const statesWithValues = [
  'phone-prefilled',
  'phone-malformed',
  'code-wrong',
  'consent-documents',
  'message-with-form',
  'message-with-wait',
  'logout-confirm',
  'logout-done',
];

for (const [about, value] of Object.entries(hostile)) {
  test(`${about} in the values of a page is shown, and is nothing but text`, async () => {
    const { page, complaints, serve } = await openTab();
    const values: SampleValues = { clientName: value, phone: value, csrf: value, flow: value, href: value };
    // HTML has no NUL; the parser drops it from text and replaces it in attributes.
    const shown = value.replaceAll('\u0000', '');
    for (const [name, markup] of Object.entries(loginPageStates('en', values))) {
      if (!statesWithValues.includes(name)) continue;
      await serve(renderPage(markup));
      assert.equal(await page.evaluate('document.scripts.length'), 1, name);
      assert.notEqual(await page.title(), 'taken', name);
      assert.equal(await page.evaluate('document.querySelectorAll("[onfocus]").length'), 0, name);
      assert.ok(await page.evaluate(fitsItsWidth), name);
    }
    assert.deepEqual(complaints, []);

    await serve(renderPage(PhonePage({ ...frame, ...form, clientName: value, phone: value })));
    assert.ok((await page.locator('.lead').textContent())?.includes(shown));
    assert.equal((await page.inputValue('#phone')).replaceAll('\ufffd', ''), shown);
    await serve(
      renderPage(
        ConsentPage({
          ...frame,
          ...form,
          clientName: value,
          phone: value,
          scopes: ['phone'],
          sessionHours: 10,
        }),
      ),
    );
    assert.ok((await page.locator('.lead').textContent())?.includes(shown));
  });
}

test('the policy lets run our script alone, and lets forms go only where it says', async () => {
  const policy = pagePolicy({ script: loginScript, formAction: ['https://partner.example'] });
  assert.match(
    policy,
    /^default-src 'none'; style-src 'sha256-[^']+'; script-src 'sha256-[^']+'; require-trusted-types-for 'script'; trusted-types 'none'; img-src data:; /,
  );
  assert.match(
    policy,
    /form-action 'self' https:\/\/partner\.example; frame-ancestors 'none'; base-uri 'none'$/,
  );
  assert.match(pagePolicy({}), /form-action 'none'/);
  assert.doesNotMatch(pagePolicy({}), /script-src/);
  assert.match(pagePolicy({ formAction: ['com.example.app:'] }), /form-action 'self' com\.example\.app:;/);
  for (const bad of [
    'https://a.example; script-src *',
    "'unsafe-inline'",
    '*',
    '',
    'https://a.example b',
    'https://a.example/path',
  ]) {
    assert.throws(() => pagePolicy({ formAction: [bad] }), /not a source/);
  }

  const { page, complaints, serve } = await openTab();
  const foreign = '<script>document.title = "taken"</script><style>main { display: none }</style>';
  await serve(codePage().replace('</body>', `${foreign}</body>`));
  assert.notEqual(await page.title(), 'taken');
  assert.ok(await page.locator('main').isVisible());
  assert.equal(complaints.length, 2);
});

test('every text is there in every language, and says the same kind of thing', () => {
  const shapes = languages.map((language) => shapeOf(catalogues[language]));
  assert.deepEqual(shapes[1], shapes[0]);
  assert.deepEqual(shapes[2], shapes[0]);
  for (const language of languages) {
    for (const [path, text] of textsOf(catalogues[language])) {
      assert.ok(text.trim().length > 1, `${language} ${path}`);
      assert.equal(text, text.trim(), `${language} ${path}`);
      assert.ok(!path.split('.').includes(text), `${language} ${path}`);
      assert.doesNotMatch(text, /undefined|null|NaN|\[object/, `${language} ${path}`);
    }
  }
  const az = new Map(textsOf(catalogues.az));
  const same = textsOf(catalogues.ru).filter(([path, text]) => az.get(path) === text);
  assert.deepEqual(same, []);
});

test('numbers agree with their nouns', () => {
  const { az, en, ru } = catalogues;
  assert.match(ru.code.wrong(1).text, /Осталась 1 попытка\.$/);
  assert.match(ru.code.wrong(2).text, /Осталось 2 попытки\.$/);
  assert.match(ru.code.wrong(5).text, /Осталось 5 попыток\.$/);
  assert.match(ru.code.resendIn(1), /через 1 секунду\./);
  assert.match(ru.code.resendIn(22), /через 22 секунды\./);
  assert.match(ru.code.resendIn(11), /через 11 секунд\./);
  assert.match(ru.code.validFor(5), /5 минут\./);
  assert.match(ru.consent.lasting(1), /не дольше 1 часа\./);
  assert.match(en.code.wrong(1).text, /1 attempt left/);
  assert.match(en.code.wrong(2).text, /2 attempts left/);
  assert.match(az.code.resendIn(60), /60 saniyədən sonra/);
  assert.match(az.tryAgainIn(7201), /3 saatdan sonra/);
});

test('a wait is never said shorter than it is', () => {
  const said = (seconds: number) => catalogues.en.tryAgainIn(seconds);
  assert.match(said(0), / 1 second\./);
  assert.match(said(119), / 119 seconds\./);
  assert.match(said(120), / 2 minutes\./);
  assert.match(said(121), / 3 minutes\./);
  assert.match(said(7199), / 120 minutes\./);
  assert.match(said(7200), / 2 hours\./);
});

test('the language is the first of ui_locales that we speak, else what the browser prefers, else Azerbaijani', () => {
  assert.equal(chooseLanguage('ru', 'en'), 'ru');
  assert.equal(chooseLanguage('de fr-CA en-GB ru', 'az'), 'en');
  assert.equal(chooseLanguage('RU-ru', undefined), 'ru');
  assert.equal(chooseLanguage('az-Latn-AZ', 'ru'), 'az');
  assert.equal(chooseLanguage('de', 'ru'), 'ru');
  assert.equal(chooseLanguage('rus', undefined), 'az');
  assert.equal(chooseLanguage('', 'de-DE, en;q=0.5, ru;q=0.8'), 'ru');
  assert.equal(chooseLanguage(undefined, 'en-US,en;q=0.9,ru;q=0.9'), 'en');
  assert.equal(chooseLanguage(undefined, 'en;q=0, ru;q=0.001'), 'ru');
  assert.equal(chooseLanguage(undefined, 'en;q=9, ru;q=0.1'), 'ru');
  assert.equal(chooseLanguage(undefined, 'de, *;q=0.5, ru;q=0.1'), 'az');
  assert.equal(chooseLanguage(undefined, 'de'), 'az');
  assert.equal(chooseLanguage(undefined, undefined), 'az');
  for (const hostileValue of [
    '<svg onload=alert(1)>',
    'x'.repeat(5000),
    ' '.repeat(5000),
    ',;q=,;'.repeat(900),
    '__proto__',
    '\u0000',
    'constructor',
  ]) {
    assert.equal(chooseLanguage(hostileValue, hostileValue), 'az');
  }
});

test('the error takes the focus, leads to its field and describes it, with and without script', async () => {
  for (const javaScriptEnabled of [true, false]) {
    const { page, serve } = await openTab({ javaScriptEnabled });
    await serve(codePage({ error: { kind: 'wrong_code', attemptsLeft: 2 } }));
    await focusIsOn(page, '[role=alert]');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await focusIsOn(page, '#code');
    await page.keyboard.type('1');
    assert.equal(await page.inputValue('#code'), '1');
    const field = page.getByRole('textbox');
    assert.equal(await field.getAttribute('aria-invalid'), 'true');
    assert.match((await page.locator('#code-error').textContent()) ?? '', /2 attempts left/);
    assert.match((await field.getAttribute('aria-describedby')) ?? '', /^code-error /);
    assert.match(await page.title(), /^Error: /);
  }
});

test('without script the code goes off with its spaces, and a new code can be asked for at any time', async () => {
  const { page, posts, serve } = await openTab({ javaScriptEnabled: false });
  await serve(codePage({ resendAfterSeconds: 42 }));
  assert.ok(await page.getByText('You can ask for a new code in 42 seconds.').isVisible());
  assert.ok(await page.getByText('We continue automatically').isHidden());
  await page.locator('#code').pressSequentially('123 456');
  await page.getByRole('button', { name: 'Sign in' }).click();
  assert.deepEqual(posts.at(-1), { path: '/code', body: 'csrf=c&flow=f&code=123+456' });
  await serve(codePage({ resendAfterSeconds: 42 }));
  await page.getByRole('button', { name: 'Send a new code' }).click();
  assert.deepEqual(posts.at(-1), { path: '/resend', body: 'csrf=c&flow=f' });
});

test('with script the code is grouped while it is typed, keeps the caret, and drops what is no digit', async () => {
  const { page, posts, serve } = await openTab();
  await serve(codePage());
  assert.ok(await page.getByText('We continue automatically').isVisible());
  const field = page.locator('#code');
  await field.pressSequentially('12a3-4');
  assert.equal(await field.inputValue(), '123 4');
  await page.keyboard.press('Home');
  await page.keyboard.type('9');
  assert.equal(await field.inputValue(), '912 34');
  assert.equal(await page.evaluate('document.activeElement.selectionStart'), 1);
  await page.keyboard.press('End');
  for (let presses = 0; presses < 3; presses++) await page.keyboard.press('Backspace');
  assert.equal(await field.inputValue(), '91');
  await page.keyboard.press('Home');
  for (let presses = 0; presses < 3; presses++) await page.keyboard.press('Delete');
  assert.equal(await field.inputValue(), '');
  assert.deepEqual(posts, []);
});

test('six digits send the form by themselves, once, whether typed or pasted', async () => {
  for (const pasted of ['123 456', '123456', 'Your Tollgate code: 123456', '123-456\n']) {
    const { page, posts, serve } = await openTab();
    await serve(codePage());
    await page.locator('#code').focus();
    await Promise.all([page.waitForURL('**/code'), page.keyboard.insertText(pasted)]);
    assert.deepEqual(posts, [{ path: '/code', body: 'csrf=c&flow=f&code=123+456' }], pasted);
  }

  const { page, posts, serve } = await openTab({ answers: 204 });
  await serve(codePage());
  const field = page.locator('#code');
  await field.pressSequentially('123456');
  await page.waitForFunction('document.querySelector("button").disabled');
  await field.press('Backspace');
  await field.press('7');
  assert.equal(await field.inputValue(), '123 457');
  await until('a form has arrived', () => posts.length > 0);
  assert.equal(posts.length, 1);
});

test('a second click sends nothing, the decision of the pressed button arrives, and going back frees the buttons', async () => {
  const { page, posts, serve } = await openTab({ answers: 204 });
  const view = { ...frame, ...form, clientName: 'Demo', phone: '+994500000001', sessionHours: 10 };
  await serve(renderPage(ConsentPage({ ...view, scopes: ['openid'] })));
  const deny = page.getByRole('button', { name: 'Deny' });
  await deny.dblclick({ noWaitAfter: true });
  await page.waitForFunction('[...document.querySelectorAll("button")].every((one) => one.disabled)');
  await page.keyboard.press('Enter');
  await until('a form has arrived', () => posts.length > 0);
  assert.deepEqual(posts, [{ path: '/code', body: 'csrf=c&flow=f&decision=deny' }]);
  await page.evaluate('dispatchEvent(new PageTransitionEvent("pageshow", { persisted: true }))');
  assert.ok(await deny.isEnabled());
});

test('the wait for a new code counts down, then the button works and it is said once', async () => {
  const { page, posts, serve } = await openTab({ clock: true });
  await serve(codePage({ resendAfterSeconds: 65 }));
  const button = page.getByRole('button', { name: 'Send a new code' });
  assert.ok(await page.getByText('You can ask for a new code in 1:05').isVisible());
  assert.ok(await button.isDisabled());
  await page.clock.runFor(6_000);
  assert.ok(await page.getByText('You can ask for a new code in 0:59').isVisible());
  await page.evaluate('dispatchEvent(new PageTransitionEvent("pageshow", { persisted: true }))');
  assert.ok(await button.isDisabled());
  await page.clock.runFor(58_000);
  assert.ok(await button.isDisabled());
  await page.clock.runFor(1_000);
  assert.ok(await button.isEnabled());
  assert.equal(await page.locator('[data-resend-status]').textContent(), 'You can ask for a new code now.');
  await Promise.all([page.waitForURL('**/resend'), button.click()]);
  assert.deepEqual(posts, [{ path: '/resend', body: 'csrf=c&flow=f' }]);
});

test('a wait of hours is shown as hours', async () => {
  const { page, serve } = await openTab({ clock: true });
  await serve(codePage({ resendAfterSeconds: 7265 }));
  assert.ok(await page.getByText('You can ask for a new code in 2:01:05').isVisible());
});

const frame = {
  language: 'en' as const,
  languages: languages.map((language) => ({ language, href: `?ui_locales=${language}` })),
};
const form = { action: '/code', csrf: 'c', flow: 'f' };

function codePage(more: Partial<CodeView> = {}): string {
  return renderPage(
    CodePage({
      ...frame,
      ...form,
      phone: '+994500000001',
      validMinutes: 5,
      resendAction: '/resend',
      resendAfterSeconds: 0,
      anotherNumberHref: '/phone',
      ...more,
    }),
  );
}

type Post = { path: string; body: string | null };
type Setup = Parameters<typeof browser.newContext>[0] & { answers?: number; clock?: boolean };

/** A tab on an origin of its own, where `serve` shows a page under the policy of the product and forms are kept. */
async function openTab({ answers = 200, clock = false, ...look }: Setup = {}) {
  const context: BrowserContext = await browser.newContext({
    viewport: { width: 360, height: 740 },
    ...look,
  });
  const page = await context.newPage();
  const posts: Post[] = [];
  const complaints: string[] = [];
  let html = '';
  page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));
  page.on('pageerror', (error) => complaints.push(error.message));
  await page.route('**/*', (route) => {
    const request = route.request();
    if (request.method() === 'POST') {
      posts.push({ path: new URL(request.url()).pathname, body: request.postData() });
      return route.fulfill({ status: answers, contentType: 'text/html', body: '<title>sent</title>' });
    }
    const policy = pagePolicy({ script: loginScript, formAction: [] });
    return route.fulfill({
      contentType: 'text/html; charset=utf-8',
      headers: { 'content-security-policy': policy },
      body: html,
    });
  });
  if (clock) {
    await page.clock.install({ time: new Date('2026-01-01T00:00:00Z') });
    await page.clock.pauseAt(new Date('2026-01-01T00:01:00Z'));
  }
  const serve = async (markup: string) => {
    html = markup;
    await page.goto(`${origin}/page`);
  };
  return { page, posts, complaints, serve };
}

async function faultsFoundByAxe(page: Page, options: { runOnly?: string[] }): Promise<string[]> {
  const settings = JSON.stringify({ ...options, resultTypes: ['violations'] });
  const script = `axe.run(${settings}).then((found) => found.violations.map((one) => one.id + ": " + one.nodes[0].html))`;
  return (await page.evaluate(script)) as string[];
}

/** All texts with their paths; those with values get sample ones, numbers included. */
function textsOf(value: unknown, path = ''): [string, string][] {
  if (typeof value === 'string') return [[path, value]];
  if (typeof value === 'function') {
    return [0, 1, 2, 5, 21, 7300].flatMap((sample) => textsOf(value(sample), `${path}.${sample}`));
  }
  if (typeof value === 'object' && value !== null) {
    return Object.entries(value).flatMap(([key, inner]) => textsOf(inner, path ? `${path}.${key}` : key));
  }
  throw new Error(`no text at ${path}`);
}

function shapeOf(value: unknown): string[] {
  return textsOf(value).map(([path]) => path);
}
