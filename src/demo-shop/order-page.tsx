import { Json, Shop } from './layout.tsx';
import type { Payment } from './merchant.ts';
import type { Order } from './visitors.ts';
import type { Received } from './webhook-receiver.ts';

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
