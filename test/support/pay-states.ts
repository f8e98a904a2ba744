import type { Page } from 'playwright-core';
import { sweep } from '../../src/checkout/jobs.ts';
import type { TestApp } from './app.ts';
import {
  bankOf,
  call,
  cards,
  createPayment,
  order,
  type PaymentAnswer,
  payByCard,
  refund,
} from './merchant.ts';
import { demo, formsOf } from './partner.ts';
import { signInToPay } from './wallet-visitor.ts';

/** A page that a customer can see: where it is, how to come there, and what tells it from the others. */
export type PayState = {
  name: string;
  url: string;
  landmark: string;
  cookies?: Record<string, string>;
  act?: (page: Page) => Promise<unknown>;
};

/**
 * A payment in each state that a page shows, on a service that has just begun: some become old on the way. The
 * service has to listen, since paying from the wallet asks it over HTTP.
 */
export async function payStates(
  service: TestApp,
  confirmation: { returnUrl: string; locale: string },
  changes: object = { description: 'Two tickets to the opera', merchantOrderId: 'A-2047' },
): Promise<PayState[]> {
  const { deps } = service.areas.checkout;
  const create = (more: object = {}) =>
    createPayment(service, { ...changes, confirmation: { ...order.confirmation, ...confirmation }, ...more });
  const link = (payment: PaymentAnswer) => payment.confirmation.confirmationUrl;
  const after = (seconds: number) =>
    sweep({ ...deps, now: () => new Date(service.clock.now().getTime() + seconds * 1000) });
  const paidWith = async (number: string, more: object = {}) => {
    const payment = await create(more);
    await payByCard(service, payment, number);
    return payment;
  };
  const cancel = (payment: PaymentAnswer) => call(service, 'POST', `/v1/payments/${payment.id}/cancel`);
  const bad = '.sign.bad';
  const good = '.sign.good';

  const neverCaptured = await paidWith(cards.approved, { capture: false });
  await after(8 * 24 * 3600);
  const expired = await create({ expiresIn: 60 });
  await after(61);

  const open = await create();
  const declined = await paidWith(cards.noFunds);
  const exhausted = await create();
  for (let tries = 0; tries < 5; tries++) await payByCard(service, exhausted, cards.declined);
  const [enough, tooLittle] = [
    await create(),
    await create({ amount: { value: '650.00', currency: 'AZN' } }),
  ];
  const rich = await signInToPay(service, enough, demo.phone);
  const poor = await signInToPay(service, tooLittle, demo.phone);
  const challenged = await paidWith(cards.challenge);
  const bank = await bankOf(service, challenged);
  const reserved = await paidWith(cards.approved, { capture: false });
  const released = await paidWith(cards.approved, { capture: false });
  await cancel(released);
  const refunded = await paidWith('5555 5555 5555 4444');
  await refund(service, refunded.id, '40.00');
  const canceled = await create();
  await cancel(canceled);
  const givenUp = await create();
  const leave = formsOf(
    (await service.app.inject({ url: `${new URL(link(givenUp)).pathname}/give-up` })).body,
  ).find(({ action }) => action.includes('/give-up'));
  await service.app.inject({ method: 'POST', url: new URL(String(leave?.action)).pathname });

  const press = (page: Page) => page.locator('form[data-card] button[type=submit]').click();
  const fill = async (page: Page) => {
    await page.fill('#number', cards.approved);
    await page.fill('#expiry', '12/30');
    await page.fill('#csc', '123');
    await page.fill('#holder', 'Aysel Mammadova');
  };
  return [
    { name: 'form', url: link(open), landmark: 'form[data-card]' },
    { name: 'form-filled', url: link(open), landmark: 'form[data-card]', act: fill },
    { name: 'form-faults', url: link(open), landmark: '[data-faults]:not([hidden])', act: press },
    { name: 'declined', url: link(declined), landmark: '.tries' },
    { name: 'not-signed-in', url: `${link(open)}?notice=not-signed-in`, landmark: '[data-summary]' },
    {
      name: 'wallet',
      url: rich.there,
      landmark: 'dl.facts',
      cookies: Object.fromEntries(rich.visitor.cookies),
    },
    {
      name: 'wallet-too-little',
      url: poor.there,
      landmark: '[data-summary]',
      cookies: Object.fromEntries(poor.visitor.cookies),
    },
    { name: 'give-up', url: `${link(open)}/give-up`, landmark: 'form[action*=give-up]' },
    { name: 'bank', url: link(challenged), landmark: '.sign.plain' },
    { name: 'bank-code', url: bank, landmark: '#code' },
    {
      name: 'bank-code-wrong',
      url: bank,
      landmark: '#code-error',
      act: (page) => page.getByRole('button', { name: 'Confirm' }).click(),
    },
    { name: 'waiting', url: link(await paidWith(cards.lostThenApproved)), landmark: '.turning' },
    { name: 'paid', url: link(await paidWith(cards.approved)), landmark: good },
    { name: 'reserved', url: link(reserved), landmark: good },
    { name: 'refunded', url: link(refunded), landmark: good },
    { name: 'expired', url: link(expired), landmark: bad },
    { name: 'given-up', url: link(givenUp), landmark: bad },
    { name: 'canceled', url: link(canceled), landmark: bad },
    { name: 'exhausted', url: link(exhausted), landmark: bad },
    { name: 'released', url: link(released), landmark: bad },
    { name: 'never-captured', url: link(neverCaptured), landmark: bad },
    { name: 'not-found', url: `${link(open)}x`, landmark: bad },
  ];
}
