import type { FastifyReply, FastifyRequest } from 'fastify';
import { queryOf } from '../../platform/form.ts';
import { type PageOptions, sendPage } from '../../platform/html.tsx';
import { chooseLanguage, type Language, languages } from '../../platform/languages.ts';
import type { Explanation } from '../../platform/page-parts.tsx';
import { readConfirmationToken } from '../confirmation-url.ts';
import type { CheckoutDeps } from '../deps.ts';
import type { CardFaults } from '../domain/card-form.ts';
import { currencyDigits, formatMoney, type Money } from '../domain/money.ts';
import { laterExpiry, mostAttempts, type Payment, type Pending } from '../domain/payment.ts';
import { EndedPage, type EndedView } from '../pages/pay-ended-page.tsx';
import { PayFormPage } from '../pages/pay-form-page.tsx';
import { LonePage, type PayFrame } from '../pages/pay-layout.tsx';
import { BankPage, ClosedPage, GiveUpPage, WaitingPage, WalletPage } from '../pages/pay-step-pages.tsx';
import { themeStyle } from '../pages/pay-style.ts';
import { orByCard, type PayTexts, payTexts } from '../pages/pay-texts.ts';
import type { TimeView } from '../pages/time-left.tsx';
import { payPageOptions } from '../script-inventory.ts';
import { type Attempt, findAttempt } from '../store/attempts.ts';
import type { WalletOwner } from '../wallet-sign-in.ts';

const leaveAfterSeconds = 5;
/** Who opens the link later than this has come to look, and is not sent away. */
const leaveWithinMs = 15 * 60_000;

/** What the address can ask the first page to say; anything else in it is ignored. */
const notices = {
  'not-signed-in': (texts: PayTexts) => texts.wallet.notSignedIn,
  'wallet-unavailable': (texts: PayTexts) => texts.wallet.unavailable,
};
export type Notice = keyof typeof notices;

/** A customer's visit: the payment behind the link, and the language they chose. */
export type Visit = {
  payment: Payment;
  token: string;
  /** Whether the merchant takes payments. */
  open: boolean;
  language: Language;
  chosen: Language | undefined;
};
/** Enough to find the pages of a payment by. */
type Whereabouts = Pick<Visit, 'token' | 'chosen'>;

/** The pages that show the time left, and come back to themselves when there is more. */
const pathsWithTime = ['', '/wallet/confirm', '/give-up'];

export function isPathWithTime(path: string): boolean {
  return pathsWithTime.includes(path);
}

export function isPayable(visit: Visit): visit is Visit & { payment: Pending } {
  return visit.open && visit.payment.status === 'pending' && visit.payment.openAttemptId === null;
}

export async function openAttemptOf(deps: CheckoutDeps, payment: Payment): Promise<Attempt | undefined> {
  if (payment.status !== 'pending' || !payment.openAttemptId) return undefined;
  const { merchantId, id: paymentId, openAttemptId: attemptId } = payment;
  return findAttempt(deps.db, { merchantId, paymentId, attemptId });
}

/** What a page that waits depends on: it looks again until this has changed. */
export function stateOf(payment: Payment, attempt: Attempt | undefined): string {
  return `${payment.version}.${attempt?.status ?? ''}`;
}

export function languageOf(request: FastifyRequest, payment: Pick<Payment, 'locale'> | undefined) {
  const asked = queryOf(request.url).get('lang')?.[0];
  const chosen = languages.find((language) => language === asked);
  return {
    chosen,
    language: chosen ?? chooseLanguage(payment?.locale ?? undefined, request.headers['accept-language']),
  };
}

/** Turns the state of a payment into the page that shows it. */
export function payPages(deps: CheckoutDeps) {
  /** An address of this payment's pages; a language that was chosen goes along. */
  function address(visit: Whereabouts, path = '', query: Record<string, string> = {}) {
    const parameters = new URLSearchParams({ ...query, ...(visit.chosen ? { lang: visit.chosen } : {}) });
    const suffix = parameters.size > 0 ? `?${parameters}` : '';
    return `${deps.checkoutUrl}/pay/${visit.token}${path}${suffix}`;
  }

  async function frameOf(visit: Visit, path = ''): Promise<PayFrame> {
    const { payment, language } = visit;
    const merchant = await deps.merchants.find(payment.merchantId);
    return {
      language,
      languages: languages.map((other) => ({
        language: other,
        href: address({ ...visit, chosen: other }, path),
      })),
      shop: { name: merchant?.name ?? '', logo: merchant?.logo ?? null },
      amount: moneyText(amountOf(payment), language),
      description: payment.description,
      order: payment.merchantOrderId,
      test: payment.test,
      themeStyle: merchant?.accent ? themeStyle(merchant.accent) : null,
    };
  }

  const options = (frame: PayFrame, more: PageOptions = {}): PageOptions => ({
    ...payPageOptions(deps.checkoutUrl, frame.themeStyle),
    ...more,
  });

  async function form(
    request: FastifyRequest,
    reply: FastifyReply,
    visit: Visit & { payment: Pending },
    shown: { faults?: CardFaults; typed?: { expiry: string; holder: string } } = {},
  ) {
    const { payment } = visit;
    const frame = await frameOf(visit);
    const now = deps.now();
    const page = PayFormPage({
      ...frame,
      action: address(visit),
      attempts: payment.attempts,
      attemptsLeft: mostAttempts - payment.attempts,
      time: timeOf(visit, ''),
      walletHref: address(visit, '/wallet'),
      giveUpHref: address(visit, '/give-up'),
      takesCards: deps.takesCards,
      today: now.toISOString().slice(0, 7),
      typed: shown.typed ?? { expiry: '', holder: '' },
      faults: shown.faults ?? {},
      problem: problemOf(request, payment, payTexts[visit.language], deps.takesCards),
    });
    return sendPage(reply, page, options(frame, { status: shown.faults ? 400 : 200 }));
  }

  function timeOf(visit: Whereabouts & { payment: Pending }, from: string): TimeView {
    const { payment } = visit;
    const leftMs = payment.expiresAt.getTime() - deps.now().getTime();
    const more = { action: address(visit, '/more-time'), extensions: payment.extensions, from };
    return { secondsLeft: Math.max(0, Math.ceil(leftMs / 1000)), more: laterExpiry(payment) ? more : null };
  }

  return {
    address,
    form,
    timeOf,

    /** The page of whatever state the payment is in. */
    async current(request: FastifyRequest, reply: FastifyReply, visit: Visit, { forward = false } = {}) {
      const { payment } = visit;
      if (payment.status !== 'pending') return ended(reply, visit);
      const frame = await frameOf(visit);
      if (!payment.openAttemptId) {
        if (visit.open) return form(request, reply, { ...visit, payment });
        return sendPage(reply, ClosedPage(frame), options(frame));
      }
      const attempt = await openAttemptOf(deps, payment);
      const url = attempt?.status === 'challenge' ? attempt.challengeUrl : null;
      const page = url
        ? BankPage({ ...frame, url, forward })
        : WaitingPage({
            ...frame,
            self: address(visit),
            statusUrl: address(visit, '/status'),
            state: stateOf(payment, attempt),
          });
      return sendPage(reply, page, options(frame));
    },

    async wallet(
      reply: FastifyReply,
      visit: Visit & { payment: Pending },
      shown: { owner: WalletOwner; balance: bigint; csrf: string },
    ) {
      const { payment, language } = visit;
      const frame = await frameOf(visit, '/wallet/confirm');
      const { currency, minor } = payment.amount;
      const left = shown.balance - minor;
      const page = WalletPage({
        ...frame,
        action: address(visit, '/wallet/confirm'),
        attempts: payment.attempts,
        csrf: shown.csrf,
        owner: shown.owner,
        balance: moneyText({ minor: shown.balance, currency }, language),
        left: left < 0n ? null : moneyText({ minor: left, currency }, language),
        otherPersonHref: address(visit, '/wallet', { other: '1' }),
        time: timeOf(visit, '/wallet/confirm'),
        takesCards: deps.takesCards,
        backHref: address(visit),
      });
      return sendPage(reply, page, options(frame));
    },

    async giveUp(reply: FastifyReply, visit: Visit & { payment: Pending }) {
      const frame = await frameOf(visit, '/give-up');
      const page = GiveUpPage({
        ...frame,
        action: address(visit, '/give-up'),
        backHref: address(visit),
        time: timeOf(visit, '/give-up'),
      });
      return sendPage(reply, page, options(frame));
    },

    /** A link that leads to no payment, or a sign-in of which it is not known which payment it was for. */
    unknown(
      request: FastifyRequest,
      reply: FastifyReply,
      kind: 'unknownLink' | 'cookieLost' = 'unknownLink',
    ) {
      return alone(request, reply, 404, (texts) => texts[kind]);
    },

    trouble(request: FastifyRequest, reply: FastifyReply, status: number) {
      const { token } = request.params as { token?: string };
      const known = token !== undefined && readConfirmationToken(deps.confirmationKey, token) !== undefined;
      const { chosen } = languageOf(request, undefined);
      return alone(
        request,
        reply,
        status,
        (texts) => texts.trouble,
        known ? address({ token, chosen }) : undefined,
      );
    },
  };

  function alone(
    request: FastifyRequest,
    reply: FastifyReply,
    status: number,
    told: (texts: PayTexts) => Explanation & { look?: string },
    lookHref?: string,
  ) {
    const { language } = languageOf(request, undefined);
    const page = LonePage({
      language,
      languages: languages.map((other) => ({ language: other, href: `?lang=${other}` })),
      told: told(payTexts[language]),
      lookHref,
    });
    return sendPage(reply, page, { status });
  }

  async function ended(reply: FastifyReply, visit: Visit) {
    const { payment, language } = visit;
    if (payment.status === 'pending') throw new Error(`payment ${payment.id} has not ended`);
    const frame = await frameOf(visit);
    const isFresh = deps.now().getTime() - endOf(payment).getTime() < leaveWithinMs;
    const refunded = payment.status === 'succeeded' && payment.refunded > 0n ? payment.refunded : undefined;
    const page = EndedPage({
      ...frame,
      outcome: outcomeOf(payment),
      paymentId: payment.id,
      reserved:
        payment.status === 'succeeded' && payment.captured < payment.amount.minor
          ? moneyText(payment.amount, language)
          : null,
      refunded: refunded === undefined ? null : moneyText({ ...payment.amount, minor: refunded }, language),
      backHref: returnUrlOf(payment),
      leaveAfterSeconds: isFresh ? leaveAfterSeconds : null,
    });
    return sendPage(reply, page, options(frame));
  }
}

type Ended = Exclude<Payment, Pending>;

/** When the customer was done. What the shop did with it later, they were not waiting for. */
function endOf(payment: Ended): Date {
  if (payment.status !== 'canceled') return payment.authorizedAt;
  return payment.paid?.authorizedAt ?? payment.canceledAt;
}

/** What is to be paid or, of something that was paid, what was taken. */
function amountOf(payment: Payment): Money {
  return payment.status === 'succeeded' ? { ...payment.amount, minor: payment.captured } : payment.amount;
}

function outcomeOf(payment: Ended): EndedView['outcome'] {
  switch (payment.status) {
    case 'waiting_for_capture':
      return { kind: 'reserved', method: payment.method };
    case 'succeeded':
      return { kind: 'paid', method: payment.method };
    case 'canceled':
      return { kind: 'canceled', cancellation: payment.cancellation, reserved: payment.paid?.method ?? null };
  }
}

function problemOf(
  request: FastifyRequest,
  payment: Pending,
  texts: PayTexts,
  takesCards: boolean,
): Explanation | null {
  const asked = queryOf(request.url).get('notice')?.[0] ?? '';
  if (Object.hasOwn(notices, asked)) return orByCard(notices[asked as Notice](texts), takesCards, texts);
  const last = payment.lastAttempt;
  if (!last) return null;
  const reason = last.reason as keyof PayTexts['declined'] | null;
  return (reason && texts.declined[reason]) ?? texts.failedAttempt;
}

/** Where the customer goes back to, told how it ended; the shop is to read the payment all the same. */
function returnUrlOf(payment: Payment): string {
  const url = new URL(payment.returnUrl);
  url.searchParams.set('paymentId', payment.id);
  url.searchParams.set('status', payment.status);
  return url.href;
}

/** The amount as people of a language write it, on one line: `1 234,50 AZN`. */
function moneyText(money: Money, language: Language): string {
  const digits = currencyDigits(money.currency) ?? 2;
  const format = new Intl.NumberFormat(language, {
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  });
  const number = format.format(formatMoney(money) as Intl.StringNumericLiteral);
  return `${number} ${money.currency}`.replaceAll(' ', '\u00a0');
}
