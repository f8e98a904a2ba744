import type { DeclineReason } from '../domain/acquirer.ts';
import { passesCheckDigit } from '../domain/card.ts';

/** What a card of the sandbox does. */
export type CardBehaviour =
  | { kind: 'approved'; silent?: true; refusesRefunds?: true }
  | { kind: 'declined'; reason: DeclineReason }
  | { kind: 'failed'; silent: true }
  | { kind: 'challenge'; reasonAfter: DeclineReason | null };

const cards: ReadonlyMap<string, CardBehaviour> = new Map<string, CardBehaviour>([
  ['4242424242424242', { kind: 'approved' }],
  ['4111111111111111', { kind: 'approved' }],
  ['5555555555554444', { kind: 'approved' }],
  ['4000000000000002', { kind: 'declined', reason: 'general_decline' }],
  ['4000000000009995', { kind: 'declined', reason: 'insufficient_funds' }],
  ['4000000000000069', { kind: 'declined', reason: 'card_expired' }],
  ['4000000000000127', { kind: 'declined', reason: 'invalid_csc' }],
  ['4100000000000019', { kind: 'declined', reason: 'fraud_suspected' }],
  ['4000000000003220', { kind: 'challenge', reasonAfter: null }],
  ['4000008400001629', { kind: 'challenge', reasonAfter: 'general_decline' }],
  ['4000000000000119', { kind: 'approved', silent: true }],
  ['4000000000000259', { kind: 'failed', silent: true }],
  ['4000000000005126', { kind: 'approved', refusesRefunds: true }],
]);

/**
 * Only the listed cards pay. Any other number is declined, so that nobody who enters a card of their own by
 * mistake is told that it was charged: `invalid_card_number` when its check digit is wrong, else
 * `payment_method_restricted`.
 */
export function behaviourOf(number: string): CardBehaviour {
  const digits = number.replace(/[ -]/g, '');
  return (
    cards.get(digits) ?? {
      kind: 'declined',
      reason: passesCheckDigit(digits) ? 'payment_method_restricted' : 'invalid_card_number',
    }
  );
}
