import type { ComponentChildren } from 'preact';
import { Page } from '../../platform/html.tsx';

export type AcsView = {
  /** As the customer reads it: `100.00 AZN`. */
  amount: string;
  codesLeft: number;
  wasWrong: boolean;
};

/**
 * Where a bank asks its customer for a code. It plays the part of a foreign site: it speaks one language of its own
 * and borrows nothing of the checkout but the style sheet. The form posts to the address of the page itself.
 */
export function AcsPage(view: AcsView) {
  return (
    <AcsFrame title={view.wasWrong ? 'Error: confirm your payment' : 'Confirm your payment'}>
      <h1>Confirm your payment</h1>
      <p class="lead">
        A payment of <b>{view.amount}</b> with your card. This is a test: the code is 1234, and no money
        moves.
      </p>
      <form method="post">
        <label for="code">Code from your bank</label>
        <input
          class="code"
          id="code"
          name="code"
          type="text"
          inputMode="numeric"
          autocomplete="one-time-code"
          maxLength={16}
          spellcheck={false}
          aria-describedby={view.wasWrong ? 'code-error' : undefined}
          aria-invalid={view.wasWrong ? 'true' : undefined}
        />
        {view.wasWrong && (
          <p class="field-error" id="code-error" role="alert">
            That is not the code. {view.codesLeft === 1 ? 'One try is' : `${view.codesLeft} tries are`} left.
          </p>
        )}
        <div class="actions">
          <button class="button" type="submit" name="action" value="confirm">
            Confirm
          </button>
          <button class="button quiet" type="submit" name="action" value="cancel">
            Cancel
          </button>
        </div>
      </form>
    </AcsFrame>
  );
}

export function AcsNotFoundPage() {
  return (
    <AcsFrame title="Nothing to confirm">
      <h1>Nothing to confirm</h1>
      <p>There is no payment behind this address. Go back to the shop and begin again.</p>
    </AcsFrame>
  );
}

function AcsFrame({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <Page
      language="en"
      title={`${title} – Sandbox bank`}
      look="login"
      header={
        <header>
          <div class="brand">Sandbox bank</div>
        </header>
      }
    >
      <div class="card">{children}</div>
    </Page>
  );
}
