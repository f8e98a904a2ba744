import type { Card } from './acquirer.ts';
import { brandOf, passesCheckDigit } from './card.ts';

export const cardFields = ['number', 'expiry', 'csc', 'holder'] as const;
export type CardField = (typeof cardFields)[number];
export type CardFault = 'missing' | 'invalid' | 'past';
export type CardFaults = Partial<Record<CardField, CardFault>>;

/** What was typed, read as people write it: spaces and hyphens in the number, 3/29 or 03/2029 as the expiry. */
export function readCard(
  typed: Record<CardField, string>,
  today: Date,
): { ok: true; card: Card } | { ok: false; faults: CardFaults } {
  const number = typed.number.replace(/[\s-]/g, '');
  const securityCode = typed.csc.trim();
  const holder = typed.holder.trim();
  const expiry = readExpiry(typed.expiry, today);
  const faults: CardFaults = {};
  if (number === '') faults.number = 'missing';
  else if (!passesCheckDigit(number)) faults.number = 'invalid';
  if (typed.expiry.trim() === '') faults.expiry = 'missing';
  else if (expiry === undefined) faults.expiry = 'invalid';
  else if (expiry.monthsLeft < 0) faults.expiry = 'past';
  if (securityCode === '') faults.csc = 'missing';
  else if (!isSecurityCode(securityCode, number)) faults.csc = 'invalid';
  if (holder === '') faults.holder = 'missing';
  else if (holder.length > 100) faults.holder = 'invalid';
  if (expiry === undefined || Object.keys(faults).length > 0) return { ok: false, faults };
  return {
    ok: true,
    card: { number, expiryMonth: expiry.month, expiryYear: expiry.year, securityCode, holder },
  };
}

/** What a refused form shows again: no number and no security code, not even one that was typed into a wrong field. */
export function shownAgain(typed: Record<CardField, string>): { expiry: string; holder: string } {
  return {
    expiry: typed.expiry.replace(/\D/g, '').length > 6 ? '' : typed.expiry,
    holder: /\d[\s-]*\d[\s-]*\d/.test(typed.holder) ? '' : typed.holder,
  };
}

/** A card is good to the end of its month, everywhere on earth; nobody issues one for longer than twenty years. */
function readExpiry(text: string, today: Date) {
  const [, month, year] = /^\s*(\d{1,2})\s*[/.-]?\s*(\d{2}|\d{4})\s*$/.exec(text) ?? [];
  if (!month || !year || Number(month) < 1 || Number(month) > 12) return undefined;
  const read = { month: Number(month), year: Number(year) + (year.length === 2 ? 2000 : 0) };
  const monthsLeft = (read.year - today.getUTCFullYear()) * 12 + read.month - 1 - today.getUTCMonth();
  return Math.abs(monthsLeft) > 240 ? undefined : { ...read, monthsLeft };
}

function isSecurityCode(text: string, number: string): boolean {
  return new RegExp(`^\\d{${brandOf(number) === 'amex' ? 4 : 3}}$`).test(text);
}
