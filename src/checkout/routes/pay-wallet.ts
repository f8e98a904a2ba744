import { createHash, randomBytes } from 'node:crypto';
import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify';
import { createCookies } from '../../platform/cookies.ts';
import { queryOf } from '../../platform/form.ts';
import { languages } from '../../platform/languages.ts';
import { equalInConstantTime, seal, unseal } from '../../platform/seal.ts';
import { answerInTime } from '../answer-in-time.ts';
import { payByWallet } from '../attempt.ts';
import type { CheckoutDeps } from '../deps.ts';
import type { Pending } from '../domain/payment.ts';
import { refuse } from '../errors.ts';
import { walletBalance } from '../store/ledger.ts';
import { type SignedIn, SignInFailed, type SignInUnderWay, type WalletOwner } from '../wallet-sign-in.ts';
import { fieldsOf, orShowHowItStands, type Token, visitOf } from './pay.ts';
import { isPayable, type Notice, type payPages, type Visit } from './pay-pages.ts';

const hidden = { schema: { hide: true } } as const;
/** How long somebody may take to sign in. */
const signInSeconds = 15 * 60;
const signInPrefix = 'sign-in-';
const payingPrefix = 'paying-';
/** As many tabs as somebody may be signing in from at once. */
const mostSignIns = 5;
/** These carry a token each, and are larger. */
const mostPaying = 3;
/** As long as the access token that the sign-in ends with. */
const signedInSeconds = 5 * 60;

/** What the browser keeps while its owner is away at the single sign-on: sealed, and of use to this browser alone. */
type Leaving = SignInUnderWay & { token: string; lang: string | null; until: number };
/** Who has signed in to pay this one payment. */
type Paying = SignedIn & { token: string; csrf: string; until: number };

/** Paying from the wallet: sign in, see whose wallet and how much is in it, confirm. */
export const payWalletRoutes: FastifyPluginAsync<{
  deps: CheckoutDeps;
  pages: ReturnType<typeof payPages>;
}> = async (app, { deps, pages }) => {
  const cookies = createCookies(deps.checkoutUrl);

  app.get<Token>('/pay/:token/wallet', hidden, async (request, reply) => {
    const visit = await visitOf(deps, request);
    if (!visit) return pages.unknown(request, reply);
    if (!isPayable(visit)) return reply.redirect(pages.address(visit), 303);
    try {
      const otherPerson = queryOf(request.url).get('other')?.[0] === '1';
      const beginning = deps.walletSignIn.begin({ language: visit.language, otherPerson });
      const { url, underWay } = await inTime(reply, beginning);
      const leaving = { ...underWay, token: visit.token, lang: visit.chosen ?? null };
      forgetBeyond(request, reply, signInPrefix, mostSignIns - 1);
      keep(reply, cookieOfState(underWay.state), leaving, signInSeconds);
      return reply.redirect(url, 303);
    } catch (error) {
      return backWithNotice(reply, visit, error);
    }
  });

  app.get('/pay/wallet/callback', hidden, async (request, reply) => {
    const state = queryOf(request.url).get('state')?.[0] ?? '';
    const leaving = kept<Leaving>(request, cookieOfState(state));
    // Somebody else's sign-in, or one from long ago: which payment it was for is not known.
    if (!leaving) return pages.unknown(request, reply, 'cookieLost');
    const chosen = languages.find((language) => language === leaving.lang);
    const there = { token: leaving.token, chosen };
    try {
      const callback = new URL(`${deps.checkoutUrl}/pay/wallet/callback`);
      callback.search = request.url.slice(request.url.indexOf('?'));
      const signedIn = await deps.walletSignIn.finish(callback, leaving);
      const paying = { ...signedIn, token: leaving.token, csrf: randomBytes(16).toString('base64url') };
      forgetBeyond(request, reply, payingPrefix, mostPaying - 1);
      keep(reply, cookieOfPayment(leaving.token), paying, signedInSeconds);
      return reply.redirect(pages.address(there, '/wallet/confirm'), 303);
    } catch (error) {
      return backWithNotice(reply, there, error);
    }
  });

  app.get<Token>('/pay/:token/wallet/confirm', hidden, async (request, reply) => {
    const visit = await visitOf(deps, request);
    if (!visit) return pages.unknown(request, reply);
    if (!isPayable(visit)) return reply.redirect(pages.address(visit), 303);
    const paying = payingOf(request, visit);
    if (!paying) return reply.redirect(pages.address(visit, '/wallet'), 303);
    try {
      return await show(reply, visit, paying, await inTime(reply, deps.walletSignIn.ownerOf(paying)));
    } catch (error) {
      return backWithNotice(reply, visit, error);
    }
  });

  app.post<Token>('/pay/:token/wallet/confirm', hidden, async (request, reply) => {
    const visit = await visitOf(deps, request);
    if (!visit) return pages.unknown(request, reply);
    const { payment } = visit;
    const here = pages.address(visit);
    const field = fieldsOf(request);
    if (!isPayable(visit) || field('attempts') !== String(payment.attempts)) return reply.redirect(here, 303);
    const paying = payingOf(request, visit);
    // To ourselves: a form of ours must not lead to another host, not even by way of redirects.
    if (!paying)
      return reply.redirect(pages.address(visit, '', { notice: 'not-signed-in' satisfies Notice }), 303);
    if (!equalInConstantTime(Buffer.from(paying.csrf), Buffer.from(field('csrf')))) {
      return reply.redirect(pages.address(visit, '/wallet/confirm'), 303);
    }
    const pay = async () => {
      // Asked again, and not only when the page was shown: whoever has signed out since does not pay.
      const owner = await deps.walletSignIn.ownerOf(paying);
      const where = { merchantId: payment.merchantId, paymentId: payment.id };
      return { owner, paid: await payByWallet(deps, where, paying.userId, payment.attempts) };
    };
    try {
      return await orShowHowItStands(reply, here, async () => {
        const result = await answerInTime(deps.log, reply, pay());
        // Until it is done the page would show its form, as if nothing had been taken from the wallet.
        if (!result) throw refuse('outcome_unknown');
        if (!result.paid) return show(reply, visit, paying, result.owner);
        cookies.clear(reply, cookieOfPayment(visit.token));
        return reply.redirect(here, 303);
      });
    } catch (error) {
      return backWithNotice(reply, visit, error);
    }
  });

  /** A step of the sign-in. Who has already waited for something else does not wait for all of it. */
  async function inTime<Result>(reply: FastifyReply, step: Promise<Result>): Promise<Result> {
    const result = await answerInTime(deps.log, reply, step);
    if (result === undefined) throw new SignInFailed('unavailable', undefined);
    return result;
  }

  async function show(
    reply: FastifyReply,
    visit: Visit & { payment: Pending },
    paying: Paying,
    owner: WalletOwner,
  ) {
    const balance = await walletBalance(deps.db, owner.userId, visit.payment.amount.currency);
    return pages.wallet(reply, visit, { owner, balance, csrf: paying.csrf });
  }

  function backWithNotice(reply: FastifyReply, there: Pick<Visit, 'token' | 'chosen'>, error: unknown) {
    if (!(error instanceof SignInFailed)) throw error;
    const notice: Notice = error.reason === 'unavailable' ? 'wallet-unavailable' : 'not-signed-in';
    return reply.redirect(pages.address(there, '', { notice }), 303);
  }

  function payingOf(request: FastifyRequest, visit: Visit): Paying | undefined {
    const paying = kept<Paying>(request, cookieOfPayment(visit.token));
    return paying?.token === visit.token ? paying : undefined;
  }

  /** A browser sends its cookies with every request: what was begun and never finished must not pile up. */
  function forgetBeyond(request: FastifyRequest, reply: FastifyReply, prefix: string, most: number): void {
    const names = cookies.names(request).filter((name) => name.startsWith(prefix));
    for (const name of names.slice(0, Math.max(0, names.length - most))) cookies.clear(reply, name);
  }

  function keep(reply: FastifyReply, name: string, value: object, seconds: number): void {
    const until = deps.now().getTime() + seconds * 1000;
    const sealed = seal(deps.walletKey, JSON.stringify({ ...value, until }), name);
    cookies.set(reply, name, sealed.toString('base64url'), seconds);
  }

  function kept<Value extends { until: number }>(request: FastifyRequest, name: string): Value | undefined {
    const value = cookies.read(request, name);
    const opened = value && unseal(deps.walletKey, Buffer.from(value, 'base64url'), name);
    if (!opened) return undefined;
    const read = JSON.parse(opened.toString()) as Value;
    return deps.now().getTime() < read.until ? read : undefined;
  }
};

/** One for each sign-in, so that two tabs do not undo each other. */
function cookieOfState(state: string): string {
  return `${signInPrefix}${shortHash(state)}`;
}

/** One for each payment, for the same reason. */
function cookieOfPayment(token: string): string {
  return `${payingPrefix}${shortHash(token)}`;
}

function shortHash(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 12);
}
