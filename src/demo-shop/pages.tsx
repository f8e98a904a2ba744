import type { Experiment } from './experiments.ts';
import { Shop } from './layout.tsx';
import type { Product } from './products.ts';
import type { Order, Visitor } from './visitors.ts';

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
