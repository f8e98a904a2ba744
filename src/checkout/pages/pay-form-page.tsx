import { ErrorSummary, type Explanation, Icon, takesFocus } from '../../platform/page-parts.tsx';
import { type CardFaults, type CardField, cardFields } from '../domain/card-form.ts';
import { type PayFrame, PayLayout } from './pay-layout.tsx';
import { type PayTexts, payTexts } from './pay-texts.ts';
import { TimeLeft, type TimeView } from './time-left.tsx';

export type PayFormView = PayFrame & {
  action: string;
  /** How many attempts there have been: the form is good for the next one alone. */
  attempts: number;
  attemptsLeft: number;
  time: TimeView;
  walletHref: string;
  giveUpHref: string;
  takesCards: boolean;
  /** `2026-11`, so that a device with a wrong clock does not call a good card expired. */
  today: string;
  /** Never the number nor the security code: those are typed again. */
  typed: { expiry: string; holder: string };
  faults: CardFaults;
  /** What became of the attempt before, or of signing in to the wallet. */
  problem: Explanation | null;
};

/** The first page: from the wallet, or by card. */
export function PayFormPage(view: PayFormView) {
  const texts = payTexts[view.language];
  const faulty = cardFields.some((field) => view.faults[field]);
  return (
    <PayLayout
      frame={view}
      failed={faulty || view.problem !== null}
      aside={<TimeLeft {...view.time} texts={texts} />}
    >
      {view.problem && !faulty && <ErrorSummary error={view.problem} />}
      {view.problem && !faulty && view.takesCards && view.attempts > 0 && (
        <p class="hint tries">{texts.card.attemptsLeft(view.attemptsLeft)}</p>
      )}
      <section class="method" aria-labelledby="wallet-title">
        <h2 id="wallet-title" class="unseen">
          {texts.wallet.title}
        </h2>
        <a class="button quiet wallet" href={view.walletHref}>
          <Icon name="wallet" />
          {texts.wallet.pay}
        </a>
        <p class="hint">{texts.wallet.about}</p>
      </section>
      {view.takesCards && (
        <section class="method" aria-labelledby="card-title">
          <h2 id="card-title" class="or">
            <span>{texts.card.or}</span>
          </h2>
          <CardForm {...view} texts={texts} faulty={faulty} />
        </section>
      )}
      <p class="aside">
        <a class="link" href={view.giveUpHref}>
          {texts.giveUp.link}
        </a>
      </p>
    </PayLayout>
  );
}

function CardForm(view: PayFormView & { texts: PayTexts; faulty: boolean }) {
  const { texts, faults } = view;
  const found = cardFields.filter((field) => faults[field]);
  return (
    <form method="post" action={view.action} noValidate autocomplete="on" data-card={view.today}>
      <div
        class="notice error"
        role="alert"
        tabIndex={-1}
        hidden={!view.faulty}
        data-faults
        data-one={texts.card.faults.one}
        data-more={texts.card.faults.more}
        {...(view.faulty ? { 'data-summary': true, ...takesFocus } : {})}
      >
        <Icon name="alert" />
        <p>
          <b>
            {found.length > 1
              ? texts.card.faults.more.replace('{count}', String(found.length))
              : texts.card.faults.one}
          </b>
        </p>
        <ul>
          {cardFields.map((field) => (
            <li key={field} hidden={!faults[field]}>
              <a href={`#${field}`}>{texts.card.fields[field].label}</a>
            </li>
          ))}
        </ul>
      </div>
      <input type="hidden" name="attempts" value={view.attempts} />
      <Field
        {...view}
        field="number"
        autocomplete="cc-number"
        inputMode="numeric"
        maxLength={30}
        value=""
        brand
      />
      <div class="two">
        <Field
          {...view}
          field="expiry"
          autocomplete="cc-exp"
          inputMode="numeric"
          maxLength={9}
          value={view.typed.expiry}
        />
        <Field {...view} field="csc" autocomplete="cc-csc" inputMode="numeric" maxLength={4} value="" />
      </div>
      <Field
        {...view}
        field="holder"
        autocomplete="cc-name"
        inputMode="text"
        maxLength={100}
        value={view.typed.holder}
      />
      <div class="actions">
        <button class="button" type="submit">
          <Icon name="lock" />
          {texts.card.pay(view.amount)}
        </button>
      </div>
    </form>
  );
}

function Field(view: {
  field: CardField;
  texts: PayTexts;
  faults: CardFaults;
  autocomplete: string;
  inputMode: 'numeric' | 'text';
  maxLength: number;
  value: string;
  brand?: boolean;
}) {
  const { field } = view;
  const { label, hint, ...messages } = view.texts.card.fields[field];
  const fault = view.faults[field];
  const described = [fault && `${field}-error`, hint && `${field}-hint`].filter(Boolean).join(' ');
  return (
    <div class="field">
      <div class="head">
        <label for={field}>{label}</label>
        {view.brand && <span class="card-brand" data-brand role="status" />}
      </div>
      <input
        id={field}
        name={field}
        type="text"
        inputMode={view.inputMode}
        autocomplete={view.autocomplete}
        maxLength={view.maxLength}
        spellcheck={false}
        autocapitalize={field === 'holder' ? 'words' : 'off'}
        required
        value={view.value}
        aria-describedby={described || undefined}
        aria-invalid={fault ? 'true' : undefined}
        data-missing={messages.missing}
        data-invalid={messages.invalid}
        data-past={messages.past}
      />
      {hint && (
        <p
          class="hint"
          id={`${field}-hint`}
          {...(field === 'csc' ? { 'data-front': view.texts.card.cscOnFront } : {})}
        >
          {hint}
        </p>
      )}
      <p class="field-error" id={`${field}-error`} hidden={!fault}>
        {fault && messages[fault]}
      </p>
    </div>
  );
}
