import { Page } from '../../platform/html.tsx';

export type PayView =
  | {
      kind: 'form';
      shop: string;
      amount: string;
      action: string;
      attempts: number;
      fault?: string | undefined;
    }
  | { kind: 'waiting'; shop: string; amount: string; self: string }
  | { kind: 'challenge'; shop: string; amount: string; url: string }
  | { kind: 'ended'; shop: string; amount: string; paid: boolean; back: string }
  | { kind: 'unknown_link' };

/** Enough to pay by card without script. It knows no database, no request and no payment state: only this view. */
export function PayPage(view: PayView) {
  if (view.kind === 'unknown_link') {
    return (
      <Page language="en" title="Payment not found" look="login">
        <div class="card">
          <h1>Payment not found</h1>
          <p>This link leads to no payment. Go back to the shop and try again. No money was taken.</p>
        </div>
      </Page>
    );
  }
  return (
    <Page
      language="en"
      title={`Pay ${view.amount}`}
      look="login"
      {...(view.kind === 'waiting' ? { refreshSeconds: 2 } : {})}
    >
      <div class="card">
        <h1>{view.shop}</h1>
        <p class="lead">{view.amount}</p>
        <Body {...view} />
      </div>
    </Page>
  );
}

function Body(view: Exclude<PayView, { kind: 'unknown_link' }>) {
  switch (view.kind) {
    case 'form':
      return <CardForm {...view} />;
    case 'waiting':
      return (
        <>
          <p role="status">We are asking your bank. Please do not pay again.</p>
          <p class="aside">
            <a class="link" href={view.self}>
              Look again
            </a>
          </p>
        </>
      );
    case 'challenge':
      return (
        <>
          <p>Your bank wants to make sure that it is you.</p>
          <div class="actions">
            <a class="button" href={view.url}>
              Go to your bank
            </a>
          </div>
        </>
      );
    case 'ended':
      return (
        <>
          <p role="status">
            {view.paid ? 'Paid. Thank you.' : 'This payment was not made. No money was taken.'}
          </p>
          <div class="actions">
            <a class="button" href={view.back}>
              Back to the shop
            </a>
          </div>
        </>
      );
  }
}

function CardForm(view: { action: string; amount: string; attempts: number; fault?: string | undefined }) {
  return (
    <form method="post" action={view.action} noValidate autocomplete="on">
      {view.fault && (
        <div class="notice error" role="alert">
          <p>{view.fault}</p>
        </div>
      )}
      <input type="hidden" name="attempts" value={view.attempts} />
      <Field name="number" label="Card number" autocomplete="cc-number" inputMode="numeric" maxLength={30} />
      <Field name="expiry" label="Expiry (MM/YY)" autocomplete="cc-exp" inputMode="numeric" maxLength={9} />
      <Field name="csc" label="Security code" autocomplete="cc-csc" inputMode="numeric" maxLength={4} />
      <Field name="holder" label="Name on the card" autocomplete="cc-name" inputMode="text" maxLength={100} />
      <div class="actions">
        <button class="button" type="submit">
          Pay {view.amount}
        </button>
      </div>
    </form>
  );
}

function Field(view: {
  name: string;
  label: string;
  autocomplete: string;
  inputMode: 'numeric' | 'text';
  maxLength: number;
}) {
  return (
    <>
      <label for={view.name}>{view.label}</label>
      <input
        id={view.name}
        name={view.name}
        type="text"
        inputMode={view.inputMode}
        autocomplete={view.autocomplete}
        maxLength={view.maxLength}
        required
      />
    </>
  );
}
