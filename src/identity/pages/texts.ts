import type { Language } from '../../platform/languages.ts';
import type { Explanation } from '../../platform/page-parts.tsx';
import { az } from './texts-az.ts';
import { en } from './texts-en.ts';
import { ru } from './texts-ru.ts';

export const messageKinds = [
  'unknown_client',
  'bad_redirect',
  'bad_request',
  'page_expired',
  'other_browser',
  'account_inactive',
  'registration_closed',
  'too_many_requests',
  'sms_unavailable',
  'fault',
] as const;
export type MessageKind = (typeof messageKinds)[number];

export type Texts = {
  languageChoice: string;
  tagline: string;
  failed: (title: string) => string;
  requestId: string;
  phone: {
    title: string;
    documentTitle: (client: string) => string;
    lead: (client: string) => string;
    label: string;
    example: string;
    smsNotice: string;
    submit: string;
    cancel: string;
    missing: Explanation;
    malformed: Explanation;
    countryNotServed: Explanation;
  };
  sending: {
    tooManyCodes: (waitSeconds: number) => Explanation;
    unavailable: Explanation;
  };
  code: {
    title: string;
    sentTo: (phone: string) => string;
    validFor: (minutes: number) => string;
    label: string;
    sixDigits: string;
    automatic: string;
    submit: string;
    keepSecret: string;
    notArrived: string;
    resendIn: (seconds: number) => string;
    /** `{time}` stands for a clock such as 0:42; the script of the page writes it. */
    resendCountdown: string;
    resendReady: string;
    resend: string;
    anotherNumber: string;
    malformed: Explanation;
    wrong: (attemptsLeft: number) => Explanation;
    expired: Explanation;
    tooManyAttempts: (waitSeconds: number) => Explanation;
    alreadyOnItsWay: string;
    sentAgain: string;
  };
  consent: {
    title: string;
    documentTitle: (client: string) => string;
    lead: (client: string) => string;
    account: (phone: string) => string;
    scopes: Record<'openid' | 'profile' | 'phone', { name: string; about: string }>;
    documents: { name: string; tag: string; list: [string, string]; about: string };
    lasting: (hours: number) => string;
    remembered: string;
    denied: (client: string) => string;
    allow: string;
    deny: string;
  };
  messages: Record<MessageKind, Explanation>;
  tryAgainIn: (waitSeconds: number) => string;
  actions: {
    startAgain: string;
    anotherNumber: string;
    backTo: (client: string) => string;
  };
  logout: {
    title: string;
    text: string;
    account: (phone: string) => string;
    submit: string;
    stay: string;
    doneTitle: string;
    doneText: string;
  };
};

export const catalogues: Record<Language, Texts> = { az, en, ru };
