import { commonRefusals, refuserOf } from '../../platform/problem.ts';
import { currencyDigits, type Money, parseMoney } from '../domain/money.ts';
import { refuse } from '../errors.ts';

const refuseRequest = refuserOf(commonRefusals);

/** The amount of a body. One that cannot be is pointed at; a currency that nobody pays in is not supported. */
export function moneyOf(amount: { value: string; currency: string }): Money {
  const digits = currencyDigits(amount.currency);
  if (digits === undefined)
    throw refuse('currency_not_supported', `${amount.currency} is not a currency we know.`);
  const money = parseMoney(amount.value, amount.currency);
  if (money) return money;
  const form = digits === 0 ? 'whole numbers only' : `exactly ${digits} digits after the point`;
  throw refuseRequest('invalid_request', 'See `errors` for each fault.', {
    errors: [
      {
        pointer: '/amount/value',
        detail: `It must be above zero, with ${form}, and at most twelve digits in all.`,
      },
    ],
  });
}

/** The same of a refund or a capture: a currency that nobody pays in is not that of the payment, whatever the value. */
export function partOf(amount: { value: string; currency: string }): Money {
  const isKnown = currencyDigits(amount.currency) !== undefined;
  return isKnown ? moneyOf(amount) : { minor: 0n, currency: amount.currency };
}
