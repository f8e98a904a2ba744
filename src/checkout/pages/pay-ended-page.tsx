import { Icon } from '../../platform/page-parts.tsx';
import { brands } from '../domain/card.ts';
import type { Cancellation, PaymentMethod } from '../domain/payment.ts';
import { type PayFrame, PayLayout } from './pay-layout.tsx';
import { type PayTexts, payTexts } from './pay-texts.ts';

export type EndedView = PayFrame & {
  outcome:
    | { kind: 'paid' | 'reserved'; method: PaymentMethod }
    | { kind: 'canceled'; cancellation: Cancellation; reserved: PaymentMethod | null };
  paymentId: string;
  /** What had been held, where less was taken. */
  reserved: string | null;
  refunded: string | null;
  backHref: string;
  /** Goes back by itself after these seconds; null for somebody who comes to look long after. */
  leaveAfterSeconds: number | null;
};

/** How it ended, and the way back to the shop. */
export function EndedPage(view: EndedView) {
  const texts = payTexts[view.language];
  const { outcome } = view;
  const { title, text } = explain(view, texts);
  return (
    <PayLayout
      frame={view}
      title={title}
      amountName={texts.receipt.amount}
      {...(view.leaveAfterSeconds === null
        ? {}
        : { refresh: { seconds: view.leaveAfterSeconds, url: view.backHref } })}
    >
      <div class={`sign ${outcome.kind === 'canceled' ? 'bad' : 'good'}`}>
        <Icon name={outcome.kind === 'canceled' ? 'alert' : 'done'} />
      </div>
      <h1>{title}</h1>
      <p>{text}</p>
      <dl class="facts">
        {outcome.kind !== 'canceled' && (
          <Fact name={texts.receipt.method} value={methodText(outcome.method, texts)} />
        )}
        {view.reserved && <Fact name={texts.receipt.reserved} value={view.reserved} />}
        {view.refunded && <Fact name={texts.receipt.refunded} value={view.refunded} />}
        <Fact name={texts.receipt.payment} value={view.paymentId} small />
      </dl>
      <div class="actions">
        <a class="button" href={view.backHref}>
          {texts.leave.back(view.shop.name)}
        </a>
      </div>
      {view.leaveAfterSeconds !== null && (
        <div class="leave" data-leave-after={view.leaveAfterSeconds} data-leave-to={view.backHref}>
          <p class="hint" data-countdown={texts.leave.countdown}>
            {texts.leave.soon}
          </p>
          <button class="text-button" type="button" hidden data-stay>
            {texts.leave.stay}
          </button>
        </div>
      )}
    </PayLayout>
  );
}

function explain(view: EndedView, texts: PayTexts): { title: string; text: string } {
  const { outcome, shop } = view;
  if (outcome.kind !== 'canceled') {
    return { title: texts[outcome.kind].title, text: texts[outcome.kind].text(shop.name) };
  }
  const { reason } = outcome.cancellation;
  const told =
    reason in texts.canceled ? texts.canceled[reason as keyof PayTexts['canceled']] : texts.notPaid;
  if (!outcome.reserved) return told;
  return { title: told.title, text: `${told.text} ${texts.released[outcome.reserved.type]}` };
}

function methodText(method: PaymentMethod, texts: PayTexts): string {
  return method.type === 'wallet'
    ? texts.receipt.wallet
    : `${brands.find(({ id }) => id === method.card.brand)?.name ?? ''} •• ${method.card.last4}`;
}

function Fact({ name, value, small }: { name: string; value: string; small?: boolean }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd class={small ? 'small' : undefined}>{value}</dd>
    </div>
  );
}
