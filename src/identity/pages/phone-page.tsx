import { ErrorSummary, type Explanation, takesFocus } from '../../platform/page-parts.tsx';
import { type FormTarget, type FrameView, HiddenFields, LoginLayout, WithName } from './login-layout.tsx';
import { catalogues, type Texts } from './texts.ts';

export type PhoneView = FrameView &
  FormTarget & {
    clientName: string;
    /** What the field holds at first: the `login_hint`, or what was typed before. */
    phone: string;
    error?: PhoneError | undefined;
    /** Leads back to the client without signing in. */
    cancelHref?: string | undefined;
  };

export type PhoneError =
  | { kind: 'missing' | 'malformed' | 'country_not_served' | 'sms_unavailable' }
  | { kind: 'too_many_codes'; waitSeconds: number };

/** The first step: whose phone is it. The field is called `phone`. */
export function PhonePage(view: PhoneView) {
  const texts = catalogues[view.language];
  const { phone: own } = texts;
  const error = view.error && explain(view.error, texts);
  const ofField = error !== undefined && isOfField(view.error);
  return (
    <LoginLayout {...view} title={own.documentTitle(view.clientName)} failed={error !== undefined}>
      {error && <ErrorSummary error={error} field={ofField ? 'phone' : undefined} />}
      <h1>{own.title}</h1>
      <p class="lead">
        <WithName text={own.lead(view.clientName)} name={view.clientName} />
      </p>
      <form method="post" action={view.action} noValidate>
        <HiddenFields csrf={view.csrf} flow={view.flow} />
        <label for="phone">{own.label}</label>
        <input
          id="phone"
          name="phone"
          type="tel"
          inputMode="tel"
          autocomplete="tel"
          maxLength={40}
          required
          value={view.phone}
          aria-describedby={ofField ? 'phone-error phone-help' : 'phone-help'}
          aria-invalid={ofField ? 'true' : undefined}
          {...(error ? {} : takesFocus)}
        />
        {error && ofField && (
          <p class="field-error" id="phone-error">
            {error.text}
          </p>
        )}
        <p class="hint" id="phone-help">
          {own.example} {own.smsNotice}
        </p>
        <div class="actions">
          <button class="button" type="submit">
            {own.submit}
          </button>
        </div>
      </form>
      {view.cancelHref && (
        <p class="aside">
          <a class="link" href={view.cancelHref}>
            {own.cancel}
          </a>
        </p>
      )}
    </LoginLayout>
  );
}

function isOfField(error: PhoneError | undefined): boolean {
  return error?.kind === 'missing' || error?.kind === 'malformed' || error?.kind === 'country_not_served';
}

function explain(error: PhoneError, { phone, sending }: Texts): Explanation {
  switch (error.kind) {
    case 'missing':
      return phone.missing;
    case 'malformed':
      return phone.malformed;
    case 'country_not_served':
      return phone.countryNotServed;
    case 'sms_unavailable':
      return sending.unavailable;
    case 'too_many_codes':
      return sending.tooManyCodes(error.waitSeconds);
  }
}
