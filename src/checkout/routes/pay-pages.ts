import type { FastifyReply, FastifyRequest } from 'fastify';
import { queryOf } from '../../platform/form.ts';
import { type PageOptions, sendPage } from '../../platform/html.tsx';
import { chooseLanguage, type Language, languages } from '../../platform/languages.ts';
import type { Explanation } from '../../platform/page-parts.tsx';
import type { CheckoutDeps } from '../deps.ts';
import type { CardFaults } from '../domain/card-form.ts';
import { currencyDigits, formatMoney, type Money } from '../domain/money.ts';
import { laterExpiry, mostAttempts, type Payment, type Pending } from '../domain/payment.ts';
import { EndedPage, type EndedView } from '../pages/pay-ended-page.tsx';
import { PayFormPage } from '../pages/pay-form-page.tsx';
import { type PayFrame, UnknownLinkPage } from '../pages/pay-layout.tsx';
import { BankPage, GiveUpPage, WaitingPage, WalletPage } from '../pages/pay-step-pages.tsx';
import { payStyle, themeStyle } from '../pages/pay-style.ts';
import { type PayTexts, payTexts } from '../pages/pay-texts.ts';
import { payPageOptions } from '../script-inventory.ts';
import { findAttempt } from '../store/attempts.ts';
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
export type Visit = { payment: Payment; token: string; language: Language; chosen: Language | undefined };

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
  function address(
    visit: Omit<Visit, 'payment' | 'language'>,
    path = '',
    query: Record<string, string> = {},
  ) {
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
      amount: moneyText(payment.amount, language),
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
      time: timeOf(payment),
      moreTimeAction: address(visit, '/more-time'),
      walletHref: address(visit, '/wallet'),
      giveUpHref: address(visit, '/give-up'),
      takesCards: deps.takesCards,
      today: now.toISOString().slice(0, 7),
      typed: shown.typed ?? { expiry: '', holder: '' },
      faults: shown.faults ?? {},
      problem: problemOf(request, payment, payTexts[visit.language]),
    });
    return sendPage(reply, page, options(frame, { status: shown.faults ? 400 : 200 }));
  }

  function timeOf(payment: Pending) {
    const secondsLeft = Math.max(0, Math.floor((payment.expiresAt.getTime() - deps.now().getTime()) / 1000));
    return { secondsLeft, extensions: payment.extensions, mayExtend: laterExpiry(payment) !== undefined };
  }

  return {
    address,
    form,
    timeOf,

    /** The page of whatever state the payment is in. */
    async current(request: FastifyRequest, reply: FastifyReply, visit: Visit, { forward = false } = {}) {
      const { payment } = visit;
      if (payment.status !== 'pending') return ended(reply, visit);
      if (!payment.openAttemptId) return form(request, reply, { ...visit, payment });
      const { merchantId, id: paymentId, openAttemptId: attemptId } = payment;
      const attempt = await findAttempt(deps.db, { merchantId, paymentId, attemptId });
      const frame = await frameOf(visit);
      const url = attempt?.status === 'challenge' ? attempt.challengeUrl : null;
      const page = url
        ? BankPage({ ...frame, url, forward })
        : WaitingPage({
            ...frame,
            self: address(visit),
            statusUrl: address(visit, '/status'),
            version: payment.version,
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
        backHref: address(visit),
      });
      return sendPage(reply, page, options(frame));
    },

    async giveUp(reply: FastifyReply, visit: Visit) {
      const frame = await frameOf(visit, '/give-up');
      const page = GiveUpPage({ ...frame, action: address(visit, '/give-up'), backHref: address(visit) });
      return sendPage(reply, page, options(frame));
    },

    unknown(request: FastifyRequest, reply: FastifyReply) {
      const { language } = languageOf(request, undefined);
      const links = languages.map((other) => ({ language: other, href: `?lang=${other}` }));
      return sendPage(reply, UnknownLinkPage({ language, languages: links }), {
        status: 404,
        styles: [payStyle],
      });
    },
  };

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
      refunded: refunded === undefined ? null : moneyText({ ...payment.amount, minor: refunded }, language),
      backHref: returnUrlOf(payment),
      leaveAfterSeconds: isFresh ? leaveAfterSeconds : null,
    });
    return sendPage(reply, page, options(frame));
  }
}

type Ended = Exclude<Payment, Pending>;

function endOf(payment: Ended): Date {
  switch (payment.status) {
    case 'waiting_for_capture':
      return payment.authorizedAt;
    case 'succeeded':
      return payment.capturedAt;
    case 'canceled':
      return payment.canceledAt;
  }
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

function problemOf(request: FastifyRequest, payment: Pending, texts: PayTexts): Explanation | null {
  const asked = queryOf(request.url).get('notice')?.[0] ?? '';
  if (Object.hasOwn(notices, asked)) return notices[asked as Notice](texts);
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
export function moneyText(money: Money, language: Language): string {
  const digits = currencyDigits(money.currency) ?? 2;
  const format = new Intl.NumberFormat(language, {
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  });
  const number = format.format(formatMoney(money) as Intl.StringNumericLiteral);
  return `${number} ${money.currency}`.replaceAll(' ', '\u00a0');
}
