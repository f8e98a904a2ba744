import { ErrorSummary, type Explanation, Icon, takesFocus } from '../../platform/page-parts.tsx';
import {
  type FormTarget,
  type FrameView,
  HiddenFields,
  LoginLayout,
  readablePhone,
  WithName,
} from './login-layout.tsx';
import { catalogues, type Texts } from './texts.ts';

export type CodeView = FrameView &
  FormTarget & {
    /** Shown as it is, masked or not; a full +994 number is grouped for reading. */
    phone: string;
    validMinutes: number;
    resendAction: string;
    /** 0 when a new code can be asked for at once. */
    resendAfterSeconds: number;
    anotherNumberHref: string;
    error?: CodeError | undefined;
    notice?: CodeNotice | undefined;
  };

export type CodeError =
  | { kind: 'malformed' | 'expired' | 'sms_unavailable' }
  | { kind: 'wrong_code'; attemptsLeft: number }
  | { kind: 'too_many_attempts' | 'too_many_codes'; waitSeconds: number };

export type CodeNotice = 'already_on_its_way' | 'sent_again';

/** The second step: the code of the SMS. The field is called `code`, and may come with spaces in it. */
export function CodePage(view: CodeView) {
  const texts = catalogues[view.language];
  const { code: own } = texts;
  const error = view.error && explain(view.error, texts);
  const ofField = error !== undefined && isOfField(view.error);
  const phone = readablePhone(view.phone);
  return (
    <LoginLayout {...view} title={own.title} failed={error !== undefined}>
      {error && <ErrorSummary error={error} field={ofField ? 'code' : undefined} />}
      {view.notice && (
        <div class="notice info" role="status">
          <Icon name="info" />
          <p>{view.notice === 'sent_again' ? own.sentAgain : own.alreadyOnItsWay}</p>
        </div>
      )}
      <h1>{own.title}</h1>
      <p class="lead">
        <WithName text={own.sentTo(phone)} name={phone} />
      </p>
      <form method="post" action={view.action} noValidate>
        <HiddenFields csrf={view.csrf} flow={view.flow} />
        <label for="code">{own.label}</label>
        {/* Room for spaces: a code pasted as "123 456" must not lose its last digit. */}
        <input
          class="code"
          id="code"
          name="code"
          type="text"
          inputMode="numeric"
          autocomplete="one-time-code"
          pattern="\s*([0-9]\s*){6}"
          maxLength={16}
          title={own.sixDigits}
          required
          spellcheck={false}
          autocapitalize="off"
          aria-describedby={ofField ? 'code-error code-help' : 'code-help'}
          aria-invalid={ofField ? 'true' : undefined}
          data-code-field
          {...(error ? {} : takesFocus)}
        />
        {error && ofField && (
          <p class="field-error" id="code-error">
            {error.text}
          </p>
        )}
        <p class="hint" id="code-help">
          {own.validFor(view.validMinutes)}
          {/* Shown by the script that does it: who is moved on must know it before (WCAG 3.2.2). */}
          <span hidden data-with-script>
            {' '}
            {own.automatic}
          </span>
        </p>
        <div class="actions">
          <button class="button" type="submit">
            {own.submit}
          </button>
        </div>
      </form>
      <div class="notice safety">
        <Icon name="shield" />
        <p>{own.keepSecret}</p>
      </div>
      <section class="further" aria-labelledby="not-arrived">
        <h2 id="not-arrived">{own.notArrived}</h2>
        <ResendForm {...view} own={own} />
        <p class="aside">
          <a class="link" href={view.anotherNumberHref}>
            {own.anotherNumber}
          </a>
        </p>
      </section>
    </LoginLayout>
  );
}

/**
 * Without script the button always works and the sentence says from when on it helps; with script the button
 * waits. The status speaks once, when the wait is over, since a clock read aloud every second helps nobody.
 */
function ResendForm(view: CodeView & { own: Texts['code'] }) {
  const { own, resendAfterSeconds } = view;
  return (
    <form
      method="post"
      action={view.resendAction}
      noValidate
      data-resend-after={Math.max(0, resendAfterSeconds)}
    >
      <HiddenFields csrf={view.csrf} flow={view.flow} />
      {resendAfterSeconds > 0 && (
        <p class="hint" data-resend-wait data-countdown={own.resendCountdown}>
          {own.resendIn(resendAfterSeconds)}
        </p>
      )}
      <button class="button quiet" type="submit">
        {own.resend}
      </button>
      <p class="unseen" role="status" data-resend-status data-ready={own.resendReady} />
    </form>
  );
}

function isOfField(error: CodeError | undefined): boolean {
  return error?.kind === 'malformed' || error?.kind === 'wrong_code' || error?.kind === 'expired';
}

function explain(error: CodeError, { code, sending }: Texts): Explanation {
  switch (error.kind) {
    case 'malformed':
      return code.malformed;
    case 'expired':
      return code.expired;
    case 'wrong_code':
      return code.wrong(error.attemptsLeft);
    case 'too_many_attempts':
      return code.tooManyAttempts(error.waitSeconds);
    case 'too_many_codes':
      return sending.tooManyCodes(error.waitSeconds);
    case 'sms_unavailable':
      return sending.unavailable;
  }
}
