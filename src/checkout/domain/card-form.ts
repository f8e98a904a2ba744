import type { Card } from './acquirer.ts';
import { brandOf, passesCheckDigit } from './card.ts';

export type CardFault = 'number_invalid' | 'expiry_invalid' | 'csc_invalid' | 'holder_missing';

/** What was typed, read as people write it: spaces and hyphens in the number, 3/29 or 03/2029 as the expiry. */
export function readCard(
  typed: { number: string; expiry: string; csc: string; holder: string },
  today: Date,
): { ok: true; card: Card } | { ok: false; fault: CardFault } {
  const number = typed.number.replace(/[\s-]/g, '');
  if (!passesCheckDigit(number)) return { ok: false, fault: 'number_invalid' };
  const [, month, year] = /^\s*(\d{1,2})\s*[/.-]?\s*(\d{2}|\d{4})\s*$/.exec(typed.expiry) ?? [];
  const expiryMonth = Number(month);
  const expiryYear = Number(year) + (year?.length === 2 ? 2000 : 0);
  if (!month || expiryMonth < 1 || expiryMonth > 12 || !isAhead(expiryYear, expiryMonth, today)) {
    return { ok: false, fault: 'expiry_invalid' };
  }
  const codeLength = brandOf(number) === 'amex' ? 4 : 3;
  if (!new RegExp(`^\\d{${codeLength}}$`).test(typed.csc.trim())) return { ok: false, fault: 'csc_invalid' };
  const holder = typed.holder.trim().slice(0, 100);
  if (holder === '') return { ok: false, fault: 'holder_missing' };
  return { ok: true, card: { number, expiryMonth, expiryYear, securityCode: typed.csc.trim(), holder } };
}

/** A card is good to the end of its month, everywhere on earth; nobody issues one for longer than twenty years. */
function isAhead(year: number, month: number, today: Date): boolean {
  const monthsLeft = (year - today.getUTCFullYear()) * 12 + month - 1 - today.getUTCMonth();
  return monthsLeft >= 0 && monthsLeft <= 240;
}
