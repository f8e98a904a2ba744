import type { FastifyError, FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify';
import { takeForms } from '../../platform/bodies.ts';
import type { FormFields } from '../../platform/form.ts';
import { Refusal } from '../../platform/problem.ts';
import { refusalOf } from '../../platform/refusal-of.ts';
import { answerInTime } from '../answer-in-time.ts';
import { askAboutAttempt, completeChallenge, payByCard } from '../attempt.ts';
import { currentPayment, endPayment } from '../cancel.ts';
import { readConfirmationToken } from '../confirmation-url.ts';
import type { CheckoutDeps } from '../deps.ts';
import { readCard, shownAgain } from '../domain/card-form.ts';
import type { AttemptId } from '../domain/payment.ts';
import { refuse } from '../errors.ts';
import { giveMoreTime } from '../more-time.ts';
import {
  isPathWithTime,
  isPayable,
  languageOf,
  openAttemptOf,
  payPages,
  stateOf,
  type Visit,
} from './pay-pages.ts';
import { payWalletRoutes } from './pay-wallet.ts';

const hidden = { schema: { hide: true } } as const;
export type Token = { Params: { token: string } };

/**
 * The page behind `confirmationUrl`. It is safe against double clicks, reload, back and two tabs: a form is good for
 * one attempt, and every answer to one leads to the page that tells how the payment stands.
 */
export const payRoutes: FastifyPluginAsync<CheckoutDeps> = async (app, deps) => {
  const pages = payPages(deps);
  // A browser that gets an answer for programs invites its owner to try again, and to pay a second time.
  app.setErrorHandler((error: FastifyError, request, reply) => {
    if (wantsJson(request)) return reply.send(error);
    const refusal = refusalOf(error);
    if (refusal.status >= 500) request.log.error({ err: error }, 'a payment page failed');
    return pages.trouble(request, reply.headers(refusal.headers), refusal.status);
  });
  takeForms(app);

  app.get<Token>('/pay/:token', hidden, async (request, reply) => {
    const visit = await visitOf(deps, request);
    if (!visit) return pages.unknown(request, reply);
    // Somebody who has answered their bank, and whose way back got lost, opens the link again.
    const looked = await answerInTime(deps.log, reply, lookAtChallenge(visit));
    return pages.current(request, reply, looked ?? visit);
  });

  app.post<Token>('/pay/:token', hidden, async (request, reply) => {
    const visit = await visitOf(deps, request);
    if (!visit) return pages.unknown(request, reply);
    const { payment } = visit;
    const field = fieldsOf(request);
    const here = pages.address(visit);
    // A form that was sent twice, or kept from before, shows what became of it.
    if (
      !deps.takesCards ||
      !isPayable(visit) ||
      payment.status !== 'pending' ||
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
    return orShowHowItStands(reply, here, async () => {
      const where = { merchantId: payment.merchantId, paymentId: payment.id };
      let hasBegun = false;
      const onBegun = () => {
        hasBegun = true;
      };
      const sent = { returnUrl: pages.address(visit, '/return'), attempts: payment.attempts, onBegun };
      const result = await answerInTime(deps.log, reply, payByCard(deps, where, read.card, sent));
      // It may still begin. The page would show its form until then, as if the card had gone nowhere.
      if (!result && !hasBegun) throw refuse('outcome_unknown');
      // By way of a page of ours: the policy lets this form lead nowhere else, and banks are everywhere.
      return reply.redirect(result?.kind === 'challenge' ? pages.address(visit, '/bank') : here, 303);
    });
  });

  app.get<Token>('/pay/:token/bank', hidden, async (request, reply) => {
    const visit = await visitOf(deps, request);
    return visit ? pages.current(request, reply, visit, { forward: true }) : pages.unknown(request, reply);
  });

  app.get<Token>('/pay/:token/return', hidden, async (request, reply) => {
    const visit = await visitOf(deps, request);
    if (!visit) return pages.unknown(request, reply);
    const attempt = await openAttemptOf(deps, visit.payment);
    // Anybody can open this address early. To ask about an attempt that is still on its way would make it fail.
    if (attempt?.status === 'challenge') {
      await answerInTime(deps.log, reply, completeChallenge(deps, attempt));
    }
    return reply.redirect(pages.address(visit), 303);
  });

  app.get<Token>('/pay/:token/status', hidden, async (request, reply) => {
    const visit = await visitOf(deps, request);
    if (!visit) return reply.code(404).send({});
    return { state: stateOf(visit.payment, await openAttemptOf(deps, visit.payment)) };
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
    if (!wantsJson(request)) {
      const from = fieldsOf(request)('from');
      return reply.redirect(pages.address(visit, isPathWithTime(from) ? from : ''), 303);
    }
    if (payment.status !== 'pending') return { secondsLeft: 0, extensions: 0, mayExtend: false };
    const { secondsLeft, more } = pages.timeOf({ ...visit, payment }, '');
    return { secondsLeft, extensions: payment.extensions, mayExtend: more !== null };
  });

  app.get<Token>('/pay/:token/give-up', hidden, async (request, reply) => {
    const visit = await visitOf(deps, request);
    if (!visit) return pages.unknown(request, reply);
    return isPayable(visit) ? pages.giveUp(reply, visit) : reply.redirect(pages.address(visit), 303);
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

  const lookedAt = new Map<AttemptId, number>();

  async function lookAtChallenge(visit: Visit): Promise<Visit | undefined> {
    const { payment } = visit;
    const attempt = await openAttemptOf(deps, payment);
    if (attempt?.status !== 'challenge') return undefined;
    const now = performance.now();
    if (now - (lookedAt.get(attempt.attemptId) ?? Number.NEGATIVE_INFINITY) < lookEveryMs) return undefined;
    if (lookedAt.size >= mostLookedAt) lookedAt.clear();
    lookedAt.set(attempt.attemptId, now);
    await askAboutAttempt(deps, attempt, 'customer');
    const after = await currentPayment(deps, payment.merchantId, payment.id);
    return after && { ...visit, payment: after };
  }
};

const lookEveryMs = 3_000;
const mostLookedAt = 10_000;

function wantsJson(request: FastifyRequest): boolean {
  return request.headers.accept === 'application/json';
}

export async function visitOf(
  deps: CheckoutDeps,
  request: FastifyRequest<Token>,
): Promise<Visit | undefined> {
  const { token } = request.params;
  const read = readConfirmationToken(deps.confirmationKey, token);
  const payment = read && (await currentPayment(deps, read.merchantId, read.id));
  if (!payment) return undefined;
  const merchant = await deps.merchants.find(payment.merchantId);
  // A merchant that was switched off takes no new payments; how its old ones stand can still be seen.
  const open = merchant !== undefined && merchant.disabledAt === null;
  return { payment, token, open, ...languageOf(request, payment) };
}

export function fieldsOf(request: FastifyRequest): (name: string) => string {
  const form = request.body as FormFields;
  return (name) => form.get(name)?.[0] ?? '';
}

/** Two forms at once, or a form whose time has just run out: the page tells how it stands. */
export async function orShowHowItStands(
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
