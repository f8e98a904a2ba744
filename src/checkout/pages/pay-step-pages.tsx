import { ErrorSummary, Icon } from '../../platform/page-parts.tsx';
import { type PayFrame, PayLayout } from './pay-layout.tsx';
import { orByCard, payTexts } from './pay-texts.ts';
import { TimeLeft, type TimeView } from './time-left.tsx';

export type WalletView = PayFrame & {
  action: string;
  attempts: number;
  csrf: string;
  /** How people know themselves: their name, if they gave one, and their number with most of it hidden. */
  owner: { name: string | null; phone: string };
  balance: string;
  /** What is left after paying; null when there is not enough. */
  left: string | null;
  otherPersonHref: string;
  time: TimeView;
  takesCards: boolean;
  backHref: string;
};

/** Whose wallet, how much is in it, and one button: nothing is taken before it is pressed. */
export function WalletPage(view: WalletView) {
  const texts = payTexts[view.language];
  return (
    <PayLayout
      frame={view}
      title={texts.wallet.title}
      failed={view.left === null}
      aside={<TimeLeft {...view.time} texts={texts} />}
    >
      {view.left === null && (
        <ErrorSummary error={orByCard(texts.wallet.tooLittle, view.takesCards, texts)} />
      )}
      <h1>{texts.wallet.title}</h1>
      <dl class="facts">
        <div>
          <dt>{texts.wallet.whose}</dt>
          <dd>
            {view.owner.name && <b>{view.owner.name} </b>}
            <span class="number">{view.owner.phone}</span>
          </dd>
        </div>
        <div>
          <dt>{texts.wallet.balance}</dt>
          <dd>{view.balance}</dd>
        </div>
        {view.left !== null && (
          <div>
            <dt>{texts.wallet.afterwards}</dt>
            <dd>{view.left}</dd>
          </div>
        )}
      </dl>
      <div class="actions">
        {view.left === null ? (
          <a class="button" href={view.backHref}>
            {view.takesCards ? texts.wallet.byCard : texts.wallet.back}
          </a>
        ) : (
          <form method="post" action={view.action}>
            <input type="hidden" name="attempts" value={view.attempts} />
            <input type="hidden" name="csrf" value={view.csrf} />
            <button class="button" type="submit">
              {texts.wallet.confirm(view.amount)}
            </button>
          </form>
        )}
        {view.left !== null && (
          <a class="button quiet" href={view.backHref}>
            {texts.wallet.back}
          </a>
        )}
      </div>
      <p class="aside">
        <a class="link" href={view.otherPersonHref}>
          {texts.wallet.anotherPerson}
        </a>
      </p>
    </PayLayout>
  );
}

/** On the way to the bank. `forward` goes there by itself, for the first time; who comes back by hand decides. */
export function BankPage(view: PayFrame & { url: string; forward: boolean }) {
  const { bank } = payTexts[view.language];
  return (
    <PayLayout
      frame={view}
      title={bank.title}
      {...(view.forward ? { refresh: { seconds: 0, url: view.url } } : {})}
    >
      <div class="sign plain">
        <Icon name="shield" />
      </div>
      <h1>{bank.title}</h1>
      <p>{bank.text}</p>
      <p class="hint">{bank.lapses}</p>
      <div class="actions">
        <a class="button" href={view.url} {...(view.forward ? { 'data-forward': true } : {})}>
          {bank.go}
        </a>
      </div>
    </PayLayout>
  );
}

/** The outcome is not known: nothing can be paid here until it is. */
export function WaitingPage(view: PayFrame & { self: string; statusUrl: string; state: string }) {
  const { waiting } = payTexts[view.language];
  return (
    <PayLayout frame={view} title={waiting.title} refresh={{ seconds: 3 }}>
      <div class="sign plain turning">
        <Icon name="wait" />
      </div>
      <h1>{waiting.title}</h1>
      <p role="status" data-status-url={view.statusUrl} data-state={view.state}>
        {waiting.text}
      </p>
      <p class="hint">{waiting.again}</p>
      <div class="actions">
        <a class="button quiet" href={view.self}>
          {waiting.look}
        </a>
      </div>
    </PayLayout>
  );
}

export function GiveUpPage(view: PayFrame & { action: string; backHref: string; time: TimeView }) {
  const texts = payTexts[view.language];
  const { giveUp } = texts;
  return (
    <PayLayout frame={view} title={giveUp.title} aside={<TimeLeft {...view.time} texts={texts} />}>
      <h1>{giveUp.title}</h1>
      <p>{giveUp.text}</p>
      <div class="actions">
        <a class="button" href={view.backHref}>
          {giveUp.no}
        </a>
        <form method="post" action={view.action}>
          <button class="button quiet" type="submit">
            {giveUp.yes}
          </button>
        </form>
      </div>
    </PayLayout>
  );
}

/** A merchant that takes no payments any more: this one was not paid, and cannot be. */
export function ClosedPage(view: PayFrame) {
  const { closed } = payTexts[view.language];
  return (
    <PayLayout frame={view} title={closed.title}>
      <div class="sign bad">
        <Icon name="alert" />
      </div>
      <h1>{closed.title}</h1>
      <p>{closed.text}</p>
    </PayLayout>
  );
}
