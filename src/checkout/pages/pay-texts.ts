import type { Language } from '../../platform/languages.ts';
import type { Explanation } from '../../platform/page-parts.tsx';
import type { DeclineReason } from '../domain/acquirer.ts';
import type { CardFault, CardField } from '../domain/card-form.ts';
import type { CancelReason } from '../domain/payment.ts';
import { az } from './pay-texts-az.ts';
import { en } from './pay-texts-en.ts';
import { ru } from './pay-texts-ru.ts';

type FieldTexts = { label: string; hint?: string } & Partial<Record<CardFault, string>> & { missing: string };

export type PayTexts = {
  languageChoice: string;
  failed: (title: string) => string;
  documentTitle: (shop: string) => string;
  toPay: string;
  order: (id: string) => string;
  secured: string;
  test: string;
  time: {
    left: (minutes: number) => string;
    /** `{time}` stands for a clock such as 9:42; the script of the page writes it. */
    clock: string;
    soon: string;
    more: string;
    given: string;
    notGiven: string;
  };
  card: {
    or: string;
    fields: Record<CardField, FieldTexts>;
    cscOnFront: string;
    /** `{count}` is how many fields. */
    faults: { one: string; more: string };
    pay: (amount: string) => string;
    attemptsLeft: (count: number) => string;
  };
  declined: Record<DeclineReason, Explanation>;
  failedAttempt: Explanation;
  wallet: {
    pay: string;
    about: string;
    title: string;
    whose: string;
    balance: string;
    afterwards: string;
    confirm: (amount: string) => string;
    tooLittle: Explanation;
    byCard: string;
    orCard: string;
    anotherPerson: string;
    back: string;
    notSignedIn: Explanation;
    unavailable: Explanation;
  };
  bank: { title: string; text: string; go: string; lapses: string };
  waiting: { title: string; text: string; again: string; look: string };
  giveUp: { link: string; title: string; text: string; yes: string; no: string };
  paid: { title: string; text: (shop: string) => string };
  reserved: { title: string; text: (shop: string) => string };
  canceled: Record<Exclude<CancelReason, DeclineReason>, Explanation>;
  notPaid: Explanation;
  /** What becomes of a reserved amount, by where it was reserved. */
  released: { card: string; wallet: string };
  receipt: {
    amount: string;
    method: string;
    payment: string;
    reserved: string;
    refunded: string;
    wallet: string;
  };
  leave: {
    back: (shop: string) => string;
    /** `{seconds}` is written by the script. */
    countdown: string;
    soon: string;
    stay: string;
  };
  unknownLink: Explanation;
  cookieLost: Explanation;
  closed: Explanation;
  trouble: Explanation & { look: string };
};

export const payTexts: Record<Language, PayTexts> = { az, en, ru };

/** Where cards are taken too, what has to do with the wallet alone says so. */
export function orByCard(told: Explanation, takesCards: boolean, texts: PayTexts): Explanation {
  return takesCards ? { ...told, text: `${told.text} ${texts.wallet.orCard}` } : told;
}
