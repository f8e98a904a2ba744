import type { Card } from './acquirer.ts';
import type { CardDetails } from './payment.ts';

/** By the first digits. The page's script has the same list. */
export const brands = [
  { id: 'visa', name: 'Visa', form: /^4/ },
  { id: 'mastercard', name: 'Mastercard', form: /^(5[1-5]|2(22[1-9]|2[3-9]|[3-6]|7[01]|720))/ },
  { id: 'amex', name: 'American Express', form: /^3[47]/ },
  { id: 'mir', name: 'Mir', form: /^220[0-4]/ },
  { id: 'unionpay', name: 'UnionPay', form: /^62/ },
  { id: 'discover', name: 'Discover', form: /^6(011|4[4-9]|5)/ },
  { id: 'maestro', name: 'Maestro', form: /^(50|5[6-9]|6)/ },
];

export function brandOf(number: string): string {
  return brands.find(({ form }) => form.test(number))?.id ?? 'unknown';
}

/** The check digit (ISO/IEC 7812): catches a slip of the finger before anybody is asked. */
export function passesCheckDigit(number: string): boolean {
  if (!/^\d{12,19}$/.test(number)) return false;
  let sum = 0;
  for (let at = 0; at < number.length; at++) {
    const digit = Number(number[number.length - 1 - at]);
    const doubled = at % 2 === 1 ? digit * 2 : digit;
    sum += doubled > 9 ? doubled - 9 : doubled;
  }
  return sum % 10 === 0;
}

/** All of a card that may be kept. */
export function cardDetailsOf(card: Card): CardDetails {
  return {
    brand: brandOf(card.number),
    first6: card.number.slice(0, 6),
    last4: card.number.slice(-4),
    expiryMonth: card.expiryMonth,
    expiryYear: card.expiryYear,
  };
}
