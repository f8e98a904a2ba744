import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify';
import { type FormFields, parseForm } from '../../platform/form.ts';
import { Refusal } from '../../platform/problem.ts';
import { completeChallenge, payByCard } from '../attempt.ts';
import { currentPayment, endPayment } from '../cancel.ts';
import { readConfirmationToken } from '../confirmation-url.ts';
import type { CheckoutDeps } from '../deps.ts';
import { readCard, shownAgain } from '../domain/card-form.ts';
import { giveMoreTime } from '../more-time.ts';
import { findAttempt } from '../store/attempts.ts';
import { languageOf, payPages, type Visit } from './pay-pages.ts';
import { payWalletRoutes } from './pay-wallet.ts';

const hidden = { schema: { hide: true } } as const;
export type Token = { Params: { token: string } };

/**
 * The page behind `confirmationUrl`. It is safe against double clicks, reload, back and two tabs: a form is good for
 * one attempt, and every answer to one leads to the page that tells how the payment stands.
 */
export const payRoutes: FastifyPluginAsync<CheckoutDeps> = async (app, deps) => {
  const pages = payPages(deps);
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'string' },
    async (_: unknown, body: string) => parseForm(body),
  );

  app.get<Token>('/pay/:token', hidden, async (request, reply) => {
    const visit = await visitOf(deps, request);
    return visit ? pages.current(request, reply, visit) : pages.unknown(request, reply);
  });

  app.post<Token>('/pay/:token', hidden, async (request, reply) => {
    const visit = await visitOf(deps, request);
    if (!visit) return pages.unknown(request, reply);
    const { payment } = visit;
    const field = fieldsOf(request);
    const here = pages.address(visit);
    // A form that was sent twice, or kept from before, shows what became of it.
    if (
      payment.status !== 'pending' ||
      payment.openAttemptId ||
      field('attempts') !== String(payment.attempts)
    ) {
      return reply.redirect(here, 303);
    }
    const typed = {
      number: field('number'),
      expiry: field('expiry'),
      csc: field('csc'),
      holder: field('holder'),
    };
    const read = readCard(typed, deps.now());
    if (!read.ok) {
      const shown = { faults: read.faults, typed: shownAgain(typed) };
      return pages.form(request, reply, { ...visit, payment }, shown);
    }
    return unlessSomebodyWasFaster(reply, here, async () => {
      const where = { merchantId: payment.merchantId, paymentId: payment.id };
      const sent = { returnUrl: pages.address(visit, '/return'), attempts: payment.attempts };
      const result = await payByCard(deps, where, read.card, sent);
      // By way of a page of ours: the policy lets this form lead nowhere else, and banks are everywhere.
      return reply.redirect(result.kind === 'challenge' ? pages.address(visit, '/bank') : here, 303);
    });
  });

  app.get<Token>('/pay/:token/bank', hidden, async (request, reply) => {
    const visit = await visitOf(deps, request);
    return visit ? pages.current(request, reply, visit, { forward: true }) : pages.unknown(request, reply);
  });

  app.get<Token>('/pay/:token/return', hidden, async (request, reply) => {
    const visit = await visitOf(deps, request);
    if (!visit) return pages.unknown(request, reply);
    const { payment } = visit;
    if (payment.status === 'pending' && payment.openAttemptId) {
      const { merchantId, id: paymentId, openAttemptId: attemptId } = payment;
      const key = { merchantId, paymentId, attemptId };
      const attempt = await findAttempt(deps.db, key);
      // Anybody can open this address early. To ask about an attempt that is still on its way would make it fail.
      if (attempt?.status === 'challenge') await completeChallenge(deps, key);
    }
    return reply.redirect(pages.address(visit), 303);
  });

  app.get<Token>('/pay/:token/status', hidden, async (request, reply) => {
    const visit = await visitOf(deps, request);
    if (!visit) return reply.code(404).send({});
    return { version: visit.payment.version };
  });

  app.post<Token>('/pay/:token/more-time', hidden, async (request, reply) => {
    const visit = await visitOf(deps, request);
    if (!visit) return pages.unknown(request, reply);
    const { merchantId, id: paymentId } = visit.payment;
    const payment = await giveMoreTime(
      deps,
      { merchantId, paymentId },
      Number(fieldsOf(request)('extensions')),
    );
    if (request.headers.accept !== 'application/json') return reply.redirect(pages.address(visit), 303);
    return payment.status === 'pending' ? pages.timeOf(payment) : { secondsLeft: 0, mayExtend: false };
  });

  app.get<Token>('/pay/:token/give-up', hidden, async (request, reply) => {
    const visit = await visitOf(deps, request);
    if (!visit) return pages.unknown(request, reply);
    if (visit.payment.status !== 'pending' || visit.payment.openAttemptId) {
      return reply.redirect(pages.address(visit), 303);
    }
    return pages.giveUp(reply, visit);
  });

  app.post<Token>('/pay/:token/give-up', hidden, async (request, reply) => {
    const visit = await visitOf(deps, request);
    if (!visit) return pages.unknown(request, reply);
    const { merchantId, id, status } = visit.payment;
    // Somebody who was faster has paid, or has given up before: the page tells.
    if (status === 'pending') {
      await deps.db.transaction((tx) =>
        endPayment(deps, tx, merchantId, id, { type: 'canceled', by: 'customer', at: deps.now() }),
      );
    }
    return reply.redirect(pages.address(visit), 303);
  });

  await app.register(payWalletRoutes, { deps, pages });
};

export async function visitOf(
  deps: CheckoutDeps,
  request: FastifyRequest<Token>,
): Promise<Visit | undefined> {
  const { token } = request.params;
  const read = readConfirmationToken(deps.confirmationKey, token);
  const merchant = read && (await deps.merchants.find(read.merchantId));
  // A merchant that was switched off has no page; what its customers had begun, the job settles.
  if (!read || !merchant || merchant.disabledAt) return undefined;
  const payment = await currentPayment(deps, read.merchantId, read.id);
  return payment && { payment, token, ...languageOf(request, payment) };
}

export function fieldsOf(request: FastifyRequest): (name: string) => string {
  const form = (request.body ?? parseForm('')) as FormFields;
  return (name) => form.get(name)?.[0] ?? '';
}

/** Two forms at once, or a form whose time has just run out: the page tells how it stands. */
export async function unlessSomebodyWasFaster(
  reply: FastifyReply,
  page: string,
  work: () => Promise<FastifyReply>,
): Promise<FastifyReply> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Refusal && error.status === 409) return reply.redirect(page, 303);
    throw error;
  }
}
