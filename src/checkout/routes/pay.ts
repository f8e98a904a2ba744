import type { FastifyPluginAsync, FastifyReply } from 'fastify';
import { type FormFields, parseForm } from '../../platform/form.ts';
import { sendPage } from '../../platform/html.tsx';
import { Refusal } from '../../platform/problem.ts';
import { completeChallenge, payByCard } from '../attempt.ts';
import { currentPayment } from '../cancel.ts';
import { readConfirmationToken } from '../confirmation-url.ts';
import type { CheckoutDeps } from '../deps.ts';
import { type CardFault, readCard } from '../domain/card-form.ts';
import { formatMoney } from '../domain/money.ts';
import type { AttemptId, Payment } from '../domain/payment.ts';
import { PayPage } from '../pages/pay-page.tsx';
import { findAttempt } from '../store/attempts.ts';

const hidden = { schema: { hide: true } } as const;
type Token = { Params: { token: string } };

const faults: Record<CardFault, string> = {
  number_invalid: 'Check the card number.',
  expiry_invalid: 'Check the expiry: month and year, such as 03/29.',
  csc_invalid:
    'Check the security code: the last three digits on the back of the card, or four on its front.',
  holder_missing: 'Enter the name on the card.',
};

/** The page behind `confirmationUrl`: a plain card form that is safe against double clicks, reload, back and two tabs. */
export const payRoutes: FastifyPluginAsync<CheckoutDeps> = async (app, deps) => {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'string' },
    async (_: unknown, body: string) => parseForm(body),
  );
  const pageOf = (token: string) => `${deps.checkoutUrl}/pay/${token}`;

  app.get<Token>('/pay/:token', hidden, async (request, reply) => {
    const payment = await paymentOf(request.params.token);
    return payment ? show(reply, payment, request.params.token) : notFound(reply);
  });

  app.post<Token>('/pay/:token', hidden, async (request, reply) => {
    const { token } = request.params;
    const payment = await paymentOf(token);
    if (!payment) return notFound(reply);
    const form = (request.body ?? parseForm('')) as FormFields;
    const field = (name: string) => form.get(name)?.[0] ?? '';
    // A form is good for one attempt: one that was sent twice, or kept from before, shows what became of it.
    if (
      payment.status !== 'pending' ||
      payment.openAttemptId ||
      field('attempts') !== String(payment.attempts)
    ) {
      return reply.redirect(pageOf(token), 303);
    }
    const typed = {
      number: field('number'),
      expiry: field('expiry'),
      csc: field('csc'),
      holder: field('holder'),
    };
    const read = readCard(typed, deps.now());
    if (!read.ok) return show(reply, payment, token, faults[read.fault]);
    const where = { merchantId: payment.merchantId, paymentId: payment.id };
    try {
      const sent = { returnUrl: `${pageOf(token)}/return`, attempts: payment.attempts };
      const result = await payByCard(deps, where, read.card, sent);
      return reply.redirect(result.kind === 'challenge' ? result.url : pageOf(token), 303);
    } catch (error) {
      // Somebody else was faster: the page tells how it stands.
      if (error instanceof Refusal && error.status === 409) return reply.redirect(pageOf(token), 303);
      throw error;
    }
  });

  app.get<Token>('/pay/:token/return', hidden, async (request, reply) => {
    const { token } = request.params;
    const payment = await paymentOf(token);
    if (!payment) return notFound(reply);
    if (payment.status === 'pending' && payment.openAttemptId) {
      const key = keyOf(payment, payment.openAttemptId);
      const attempt = await findAttempt(deps.db, key);
      // Anybody can open this address early. To ask about an attempt that is still on its way would make it fail.
      if (attempt?.status === 'challenge') await completeChallenge(deps, key);
    }
    return reply.redirect(pageOf(token), 303);
  });

  async function paymentOf(token: string): Promise<Payment | undefined> {
    const read = readConfirmationToken(deps.confirmationKey, token);
    return read && currentPayment(deps, read.merchantId, read.id);
  }

  async function show(reply: FastifyReply, payment: Payment, token: string, fault?: string) {
    const merchant = await deps.merchants.find(payment.merchantId);
    const shop = merchant?.name ?? '';
    const amount = `${formatMoney(payment.amount)} ${payment.amount.currency}`;
    if (payment.status !== 'pending') {
      const paid = payment.status !== 'canceled';
      return sendPage(reply, PayPage({ kind: 'ended', shop, amount, paid, back: returnUrlOf(payment) }));
    }
    if (payment.openAttemptId) {
      const attempt = await findAttempt(deps.db, keyOf(payment, payment.openAttemptId));
      const url = attempt?.status === 'challenge' ? attempt.challengeUrl : null;
      return sendPage(
        reply,
        url
          ? PayPage({ kind: 'challenge', shop, amount, url })
          : PayPage({ kind: 'waiting', shop, amount, self: pageOf(token) }),
      );
    }
    const declined = payment.lastAttempt
      ? 'The last attempt did not go through. No money was taken; try again.'
      : undefined;
    const view = {
      kind: 'form' as const,
      shop,
      amount,
      action: pageOf(token),
      attempts: payment.attempts,
      fault: fault ?? declined,
    };
    // The redirect that answers the form may lead to the bank's page, wherever that is.
    return sendPage(reply, PayPage(view), {
      formAction: ['https:', new URL(deps.checkoutUrl).origin],
      status: fault ? 400 : 200,
    });
  }
};

/** Where the customer goes back to, told how it ended; the shop is to read the payment all the same. */
function returnUrlOf(payment: Payment): string {
  const url = new URL(payment.returnUrl);
  url.searchParams.set('paymentId', payment.id);
  url.searchParams.set('status', payment.status);
  return url.href;
}

function keyOf(payment: Payment, attemptId: AttemptId) {
  return { merchantId: payment.merchantId, paymentId: payment.id, attemptId };
}

function notFound(reply: FastifyReply) {
  return sendPage(reply, PayPage({ kind: 'unknown_link' }), { status: 404 });
}
