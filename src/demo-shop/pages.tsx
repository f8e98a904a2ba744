import type { ComponentChildren } from 'preact';
import { Page } from '../platform/html.tsx';
import type { Experiment } from './experiments.ts';
import type { Payment } from './merchant.ts';
import type { Product } from './products.ts';
import type { Order, Step, Tokens, Visitor } from './visitors.ts';
import type { Received } from './webhook-receiver.ts';

export const shopStyle = `
.shop-nav { display: flex; flex-wrap: wrap; align-items: center; gap: .25rem 1.25rem; max-width: 66rem; margin: 0 auto; padding: 1rem; }
.shop-nav b { font-size: 1.125rem; margin-inline-end: auto; }
.shop-nav a { display: inline-flex; align-items: center; min-height: 2.75rem; }
.shop main { padding-top: 1rem; }
.shop .product { display: flex; flex-direction: column; gap: .25rem; }
.shop .product svg { width: 4rem; height: 4rem; color: var(--accent); }
.shop .product p { margin: 0; }
.shop .product form { margin-top: auto; padding-top: .75rem; }
.shop .price { font-size: 1.25rem; font-weight: 700; }
.shop pre { margin: .5rem 0 0; padding: .85rem 1rem; overflow-x: auto; white-space: pre-wrap; overflow-wrap: anywhere; background: var(--code); border-radius: 8px; font: .8125rem/1.5 ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace; }
.shop details { margin: .5rem 0; }
.shop summary { cursor: pointer; min-height: 2.75rem; display: flex; align-items: center; font-weight: 600; }
.shop summary::before { content: "▸"; width: 1.25rem; flex: none; }
.shop details[open] > summary::before { content: "▾"; }
.shop .row { display: flex; flex-wrap: wrap; gap: .75rem; align-items: end; margin-top: 1rem; }
.shop .row .button { width: auto; }
.shop .row input { width: 9rem; }
.shop .status { display: inline-block; padding: .1rem .7rem; border-radius: 99px; font-weight: 600; background: var(--accent-soft); color: var(--accent); }
.shop .status.succeeded { background: var(--good-soft); color: var(--good); }
.shop .status.canceled { background: var(--warn-soft); color: var(--warn); }
.shop ol.events { list-style: none; padding: 0; }
.shop ol.events li { border-top: 1px solid var(--line); margin: 0; }
`;

/** Looks again while something is still on its way. */
export const reloadScript = `
if (document.querySelector('[data-reload]')) setTimeout(() => location.reload(), 1500);
`;

function Shop({ title, reload, children }: { title: string; reload?: boolean; children: ComponentChildren }) {
  return (
    <Page
      language="en"
      title={`${title} – Demo Shop`}
      look="shop"
      styles={[shopStyle]}
      script={reloadScript}
      {...(reload ? { refreshWithoutScript: { seconds: 2 } } : {})}
      header={
        <header>
          <nav class="shop-nav" aria-label="Demo Shop">
            <b>Demo Shop</b>
            <a href="/demo">Shop</a>
            <a href="/demo/account">Account</a>
            <a href="/demo/experiments">Break it</a>
            <a href="/">What runs here</a>
          </nav>
        </header>
      }
    >
      {reload && <span data-reload hidden />}
      {children}
    </Page>
  );
}

export function ShopPage({
  products,
  signedIn,
  orders,
}: {
  products: Product[];
  signedIn: boolean;
  orders: Order[];
}) {
  return (
    <Shop title="Shop">
      <h1>Buy something</h1>
      <p class="soft">
        Nothing is sold here: cards are test cards (4242 4242 4242 4242), the wallet is that of +994500000001,
        whose code is 111111.
      </p>
      <div class="grid">
        {products.map((product) => (
          <section class="card product" key={product.name}>
            <svg viewBox="0 0 48 48" fill="none" stroke="currentColor" stroke-width="2.5" aria-hidden="true">
              <path d={product.picture} />
            </svg>
            <h2>{product.name}</h2>
            <p class="soft">{product.about}</p>
            <p class="price">{product.price} AZN</p>
            <form method="post" action="/demo/buy">
              <input type="hidden" name="product" value={product.name} />
              <button class="button" type="submit">
                Buy {product.name.toLowerCase()}
              </button>
            </form>
          </section>
        ))}
      </div>
      <section class="card">
        <h2>{signedIn ? 'You are signed in' : 'Sign in with Tollgate'}</h2>
        <p>
          {signedIn
            ? 'The account page shows who you are, the tokens behind it, and every step that led there.'
            : 'With a phone number and a code. Then look at the tokens, the profile, and the steps of PKCE.'}
        </p>
        <a class="button" href={signedIn ? '/demo/account' : '/demo/sign-in'}>
          {signedIn ? 'Your account' : 'Sign in'}
        </a>
      </section>
      {orders.length > 0 && (
        <section class="card">
          <h2>Your orders</h2>
          <ul>
            {orders.map((order) => (
              <li key={order.paymentId}>
                <a href={`/demo/orders?paymentId=${order.paymentId}`}>{order.product}</a>, {order.amount}
              </li>
            ))}
          </ul>
        </section>
      )}
    </Shop>
  );
}

export function AccountPage(view: {
  tokens: Tokens | null;
  person: { profile: unknown; merged: unknown } | undefined;
  steps: Step[];
}) {
  if (!view.tokens || !view.person) {
    return (
      <Shop title="Account">
        <h1>You are not signed in</h1>
        <p>Sign in to see the tokens, your profile, and the accounts that were merged into yours.</p>
        <a class="button" href="/demo/sign-in">
          Sign in
        </a>
        <Steps steps={view.steps} />
      </Shop>
    );
  }
  return (
    <Shop title="Account">
      <h1>Your account</h1>
      <div class="row">
        <form method="post" action="/demo/refresh">
          <button class="button quiet" type="submit">
            Renew the tokens
          </button>
        </form>
        <a class="button quiet" href="/demo/sign-out">
          Sign out everywhere
        </a>
      </div>
      <section class="card">
        <h2>Profile</h2>
        <p class="soft">
          <code>GET /api/v1/openid-connect/userinfo</code> with the access token
        </p>
        <Json value={view.person.profile} />
      </section>
      <section class="card">
        <h2>Merged accounts</h2>
        <p class="soft">
          Ids under which this person was known before: whoever stored one of them finds the person again.
        </p>
        <Json value={view.person.merged} />
      </section>
      <section class="card">
        <h2>Tokens</h2>
        <Decoded name="ID token" token={view.tokens.idToken} />
        <Decoded name="Access token" token={view.tokens.accessToken} />
        <details>
          <summary>Refresh token</summary>
          <pre>{view.tokens.refreshToken}</pre>
        </details>
      </section>
      <Steps steps={view.steps} />
    </Shop>
  );
}

function Steps({ steps }: { steps: Step[] }) {
  if (steps.length === 0) return null;
  return (
    <section class="card">
      <h2>How you got here</h2>
      {steps.map((step, at) => (
        <details key={at}>
          <summary>{step.title}</summary>
          <p class="soft">{step.about}</p>
          <pre>{step.request}</pre>
          <pre>{step.answer}</pre>
        </details>
      ))}
    </section>
  );
}

export function OrderPage({
  order,
  payment,
  events,
}: {
  order: Order;
  payment: Payment;
  events: Received[];
}) {
  const told =
    events.some((event) => event.type === `payment.${payment.status}`) &&
    refundedIn(events) === minorOf(payment.refundedAmount.value);
  return (
    <Shop title={order.product} reload={payment.status === 'pending' || !told}>
      <h1>{order.product}</h1>
      <p>
        <span class={`status ${payment.status}`}>{payment.status}</span> {order.amount}
        {payment.refundedAmount.value !== '0.00' && `, of which ${payment.refundedAmount.value} went back`}
      </p>
      {payment.status === 'pending' && (
        <p>
          <a class="button" href={payment.confirmation.confirmationUrl}>
            Go on paying
          </a>
        </p>
      )}
      {payment.refundable && (
        <section class="card">
          <h2>Refund</h2>
          <p class="soft">In parts, as often as something is left: {payment.refundableAmount.value} AZN.</p>
          <form method="post" action="/demo/refund" class="row">
            <input type="hidden" name="paymentId" value={payment.id} />
            <div>
              <label for="amount">Amount</label>
              <input
                id="amount"
                name="amount"
                inputMode="decimal"
                pattern="\d+\.\d\d"
                title="With two decimals, such as 12.50"
                required
                value={half(payment.refundableAmount.value)}
              />
            </div>
            <button class="button" type="submit">
              Give it back
            </button>
          </form>
        </section>
      )}
      <section class="card">
        <h2>Webhooks</h2>
        {events.length === 0 && <p class="soft">None yet. This page looks again by itself.</p>}
        <ol class="events">
          {events.map((event) => (
            <li key={event.id}>
              <details>
                <summary>
                  {event.type} <span class="unseen">at {event.at}</span>
                </summary>
                <p class="soft">Signed, verified, at {event.at}.</p>
                <Json value={JSON.parse(event.body)} />
              </details>
            </li>
          ))}
        </ol>
      </section>
      <details>
        <summary>The payment, as the API gives it</summary>
        <Json value={payment} />
      </details>
    </Shop>
  );
}

export function ExperimentsPage({ experiments, visitor }: { experiments: Experiment[]; visitor: Visitor }) {
  const { experiment } = visitor;
  return (
    <Shop title="Break it">
      <h1>Break it</h1>
      <p class="soft">What happens when something is wrong, old, or sent twice.</p>
      {experiment && (
        <section class="card" aria-label="What happened">
          <h2>{experiment.title}</h2>
          <p class="soft">{experiment.about}</p>
          <pre>{experiment.request}</pre>
          <pre>{experiment.answer}</pre>
        </section>
      )}
      <div class="grid">
        {experiments.map((one) => {
          const missing = one.needs(visitor);
          return (
            <section class="card product" key={one.name}>
              <h2>{one.title}</h2>
              <p class="soft">{one.about}</p>
              <form method="post" action="/demo/experiments">
                <input type="hidden" name="name" value={one.name} />
                <button class="button quiet" type="submit" disabled={missing !== null}>
                  {missing ?? 'Try it'}
                  <span class="unseen">: {one.title}</span>
                </button>
              </form>
            </section>
          );
        })}
      </div>
    </Shop>
  );
}

export function TroublePage({ detail }: { detail: string }) {
  return (
    <Shop title="That did not work">
      <h1>That did not work</h1>
      <pre>{detail}</pre>
      <p>
        <a href="/demo">Back to the shop</a>
      </p>
    </Shop>
  );
}

function Decoded({ name, token }: { name: string; token: string }) {
  const [header = '', claims = ''] = token.split('.');
  return (
    <details>
      <summary>{name}</summary>
      <p class="soft">Header and claims; the third part is the signature.</p>
      <Json value={decoded(header)} />
      <Json value={decoded(claims)} />
      <pre>{token}</pre>
    </details>
  );
}

function decoded(part: string): unknown {
  return JSON.parse(Buffer.from(part, 'base64url').toString() || 'null');
}

function Json({ value }: { value: unknown }) {
  return <pre>{JSON.stringify(value, null, 2)}</pre>;
}

/** In minor units, as money is counted: half of 45.01 is 22.50, and never 22.505. */
function half(amount: string): string {
  const minor = minorOf(amount) / 2n || 1n;
  return `${minor / 100n}.${String(minor % 100n).padStart(2, '0')}`;
}

/** How much of it the webhooks have told of. */
function refundedIn(events: Received[]): bigint {
  return events
    .filter(({ type }) => type === 'refund.succeeded')
    .map(({ body }) => JSON.parse(body) as { data: { object: { amount: { value: string } } } })
    .reduce((sum, { data }) => sum + minorOf(data.object.amount.value), 0n);
}

function minorOf(amount: string): bigint {
  return BigInt(amount.replace('.', ''));
}
