/**
 * Writes every state of the login pages to a folder, to be looked at: as plain HTML, and photographed on a phone
 * and on a desk, in light and in dark. `node --import tsx scripts/preview-login-pages.ts /tmp/preview [state]`.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import type { VNode } from 'preact';
import { CodePage, type CodeView } from '../src/identity/pages/code-page.tsx';
import { ConsentPage, type ConsentView } from '../src/identity/pages/consent-page.tsx';
import { ConfirmLogoutPage, SignedOutPage } from '../src/identity/pages/logout-pages.tsx';
import { MessagePage, type MessageView } from '../src/identity/pages/message-page.tsx';
import { PhonePage, type PhoneView } from '../src/identity/pages/phone-page.tsx';
import { messageKinds } from '../src/identity/pages/texts.ts';
import { renderPage } from '../src/platform/html.tsx';
import { type Language, languages } from '../src/platform/languages.ts';
import { launchBrowser } from '../test/support/browser.ts';

/** Every state of every login page with sample values, by name. `values` replaces what comes from outside. */
export function loginPageStates(
  language: Language,
  values: Partial<SampleValues> = {},
): Record<string, VNode> {
  const { clientName, phone, csrf, flow, href } = { ...sampleValues, ...values };
  const frame = {
    language,
    languages: languages.map((one) => ({ language: one, href: `${href}&ui_locales=${one}` })),
  };
  const form = { action: href, csrf, flow };
  const askPhone = (more: Partial<PhoneView>) =>
    PhonePage({ ...frame, ...form, clientName, phone: '', cancelHref: href, ...more });
  const askCode = (more: Partial<CodeView>) =>
    CodePage({
      ...frame,
      ...form,
      phone,
      validMinutes: 5,
      resendAction: href,
      resendAfterSeconds: 60,
      anotherNumberHref: href,
      ...more,
    });
  const askConsent = (more: Partial<ConsentView>) =>
    ConsentPage({ ...frame, ...form, clientName, phone, scopes: ['openid'], sessionHours: 10, ...more });
  const say = (more: Pick<MessageView, 'kind'> & Partial<MessageView>) =>
    MessagePage({ ...frame, requestId: '3f0c6f5e-7f0e-4c0e-9d43-6f6f6a1a7c55', ...more });

  return {
    phone: askPhone({}),
    'phone-prefilled': askPhone({ phone, cancelHref: undefined }),
    'phone-missing': askPhone({ error: { kind: 'missing' } }),
    'phone-malformed': askPhone({ phone: '12-34', error: { kind: 'malformed' } }),
    'phone-country': askPhone({ phone: '+1 202 555 0100', error: { kind: 'country_not_served' } }),
    'phone-too-many': askPhone({ phone, error: { kind: 'too_many_codes', waitSeconds: 540 } }),
    'phone-no-sms': askPhone({ phone, error: { kind: 'sms_unavailable' } }),
    code: askCode({}),
    'code-resend-ready': askCode({ resendAfterSeconds: 0 }),
    'code-on-its-way': askCode({ notice: 'already_on_its_way', resendAfterSeconds: 21 }),
    'code-sent-again': askCode({ notice: 'sent_again' }),
    'code-malformed': askCode({ error: { kind: 'malformed' } }),
    'code-wrong': askCode({ error: { kind: 'wrong_code', attemptsLeft: 3 } }),
    'code-wrong-last': askCode({ error: { kind: 'wrong_code', attemptsLeft: 1 } }),
    'code-wrong-none-left': askCode({
      error: { kind: 'wrong_code', attemptsLeft: 0 },
      resendAfterSeconds: 0,
    }),
    'code-expired': askCode({ error: { kind: 'expired' }, resendAfterSeconds: 0 }),
    'code-too-many-attempts': askCode({ error: { kind: 'too_many_attempts', waitSeconds: 900 } }),
    'code-too-many-codes': askCode({
      error: { kind: 'too_many_codes', waitSeconds: 7300 },
      resendAfterSeconds: 7300,
    }),
    'code-no-sms': askCode({ error: { kind: 'sms_unavailable' } }),
    consent: askConsent({ scopes: ['openid', 'profile', 'phone'] }),
    'consent-documents': askConsent({ scopes: ['openid', 'profile', 'phone', 'identity_documents'] }),
    'consent-least': askConsent({}),
    ...Object.fromEntries(messageKinds.map((kind) => [`message-${kind}`, say({ kind })])),
    'message-with-link': say({ kind: 'page_expired', next: { label: 'start_again', href } }),
    'message-with-form': say({
      kind: 'registration_closed',
      next: { label: 'another_number', form },
    }),
    'message-with-wait': say({
      kind: 'too_many_requests',
      waitSeconds: 45,
      next: { label: 'back_to_client', clientName, href },
    }),
    'logout-confirm': ConfirmLogoutPage({ ...frame, ...form, phone, stayHref: href }),
    'logout-confirm-least': ConfirmLogoutPage({ ...frame, ...form }),
    'logout-done': SignedOutPage({ ...frame, back: { href, clientName } }),
    'logout-done-least': SignedOutPage(frame),
  };
}

export type SampleValues = { clientName: string; phone: string; csrf: string; flow: string; href: string };
const sampleValues: SampleValues = {
  clientName: 'Demo Mağaza',
  phone: '+994501234567',
  csrf: 'sample-csrf',
  flow: 'sample-flow',
  href: '/sso/sample?flow=sample-flow',
};

if (process.argv[1]?.endsWith('scripts/preview-login-pages.ts')) {
  const [folder, only] = process.argv.slice(2);
  if (!folder) throw new Error('name the folder to write to');
  await preview(resolve(folder), only);
}

async function preview(folder: string, only: string | undefined): Promise<void> {
  mkdirSync(folder, { recursive: true });
  const browser = await launchBrowser();
  const looks = await Promise.all(
    (['light', 'dark'] as const).flatMap((colorScheme) => [
      openTab(browser, { colorScheme, width: 360, height: 740 }),
      openTab(browser, { colorScheme, width: 1280, height: 800 }),
    ]),
  );
  for (const language of languages) {
    for (const [name, page] of Object.entries(loginPageStates(language))) {
      if (only && !name.startsWith(only)) continue;
      const file = join(folder, `${name}.${language}.html`);
      writeFileSync(file, renderPage(page));
      for (const { tab, ending } of looks) {
        await tab.goto(pathToFileURL(file).href);
        await tab.screenshot({ path: file.replace(/html$/, ending), fullPage: true });
      }
      process.stdout.write(`${file}\n`);
    }
  }
  await browser.close();
}

async function openTab(
  browser: Browser,
  { colorScheme, ...viewport }: { colorScheme: 'light' | 'dark'; width: number; height: number },
): Promise<{ tab: Page; ending: string }> {
  const context = await browser.newContext({ viewport, colorScheme });
  return { tab: await context.newPage(), ending: `${viewport.width}.${colorScheme}.png` };
}
