import { setTimeout as delay } from 'node:timers/promises';
import { basic, cardFormOf, cards, order, type PaymentAnswer } from '../test/support/merchant.ts';
import { demo } from '../test/support/partner.ts';
import { signInToPay } from '../test/support/wallet-visitor.ts';
import type { Answer } from './ask.ts';
import type { Driver } from './driver.ts';
import { frontDoor, isUnfinishedLogin, NoAnswer } from './front-door.ts';
import { type Acknowledged, mayFollow, type Sent, type Told } from './journal.ts';
import type { Random } from './random.ts';

export type Worker = { driver: Driver; random: Random; isOver: () => boolean };

/** A shop with one customer after another: an order, a card or a wallet, and what the merchant does with the money. */
export async function runShop(worker: Worker, baseUrl: string): Promise<void> {
  const { random, isOver } = worker;
  while (!isOver()) {
    const capture = random.chance(0.6);
    const amount = money(random.between(20, 400));
    // A day, so that a clock that is moved by an hour ends none of them.
    const created = await call(worker, '/v1/payments', { ...order, amount, capture, expiresIn: 86_400 });
    if (created?.status !== 200) continue;
    const payment = JSON.parse(created.answer) as PaymentAnswer;
    if (random.chance(0.1)) {
      await call(worker, `/v1/payments/${payment.id}/cancel`, {});
      continue;
    }
    if (random.chance(0.15)) await payFromWallet(worker, payment, baseUrl);
    else await payOnPage(worker, payment);
    if (!capture) {
      const end = random.chance(0.8) ? 'capture' : 'cancel';
      await call(worker, `/v1/payments/${payment.id}/${end}`, {});
    }
    for (let refunds = random.between(0, 2); refunds > 0; refunds--) {
      const part = money(random.between(5, 60));
      await call(worker, '/v1/refunds', { paymentId: payment.id, amount: part });
    }
    if (random.chance(0.3)) await readPayment(worker, payment.id);
  }
}

function money(units: number): { value: string; currency: string } {
  return { value: `${units}.00`, currency: 'AZN' };
}

/** A call under a key of its own, sent until it is answered; what the end of the round cuts off stays unfinished. */
async function call(worker: Worker, path: string, body: object): Promise<Acknowledged | undefined> {
  const sent = worker.driver.journal.intend(path, body);
  for (;;) {
    const acknowledged = await finish(worker.driver, sent);
    if (acknowledged || worker.isOver()) return acknowledged;
    await delay(worker.random.between(50, 250));
  }
}

/** Sends a call, and keeps its answer if it is one. */
export async function finish(driver: Driver, sent: Sent): Promise<Acknowledged | undefined> {
  const answer = await post(driver, sent);
  if (!answer) return undefined;
  const isRefusal = sent.path !== '/v1/payments' && (answer.status === 409 || answer.status === 422);
  if (answer.status === 404) driver.breach('lost', `${sent.path} ${sent.key}: ${answer.body}`);
  else if (answer.body.includes('idempotency_key_reused'))
    driver.breach('answer', `${sent.path} ${sent.key} is said to be used before: ${answer.body}`);
  else if (answer.status !== 200 && !isRefusal)
    driver.breach('answer', `${sent.path} ${sent.key}: ${answer.status} ${answer.body}`);
  driver.counts.acknowledged++;
  return driver.journal.acknowledge(sent, answer.status, answer.body);
}

/** The answer to a call under its key; undefined when there was none yet. */
export async function post(driver: Driver, sent: Sent): Promise<Answer | undefined> {
  const answer = await driver.send({
    method: 'POST',
    path: `/checkout${sent.path}`,
    headers: { authorization: basic(), 'x-idempotency-key': sent.key, 'content-type': 'application/json' },
    body: JSON.stringify(sent.body),
  });
  const isNotNow =
    answer?.status === 429 || (answer?.status === 409 && answer.body.includes('idempotency_key_in_use'));
  return isNotNow ? undefined : answer;
}

async function payOnPage({ driver, random, isOver }: Worker, payment: PaymentAnswer): Promise<void> {
  const path = new URL(payment.confirmation.confirmationUrl).pathname;
  for (let tries = 0; tries < 5 && !isOver(); tries++) {
    const page = await driver.send({ method: 'GET', path });
    const form = page && cardFormOf(page.body);
    if (page && page.status !== 200)
      driver.breach('lost', `the page of payment ${payment.id}: ${page.status}`);
    if (page && !form) return;
    if (form) {
      const typed = { number: cardFor(random), expiry: '12/30', csc: '123', holder: 'A Customer' };
      const answer = await driver.send({
        method: 'POST',
        path,
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        body: new URLSearchParams({ ...form.fields, ...typed }).toString(),
      });
      if (answer && answer.status !== 303)
        driver.breach('answer', `the card form of payment ${payment.id}: ${answer.status}`);
    }
    await delay(random.between(10, 50));
  }
}

/** All from one wallet, in which there is enough. Whether it was paid the books tell. */
async function payFromWallet({ driver }: Worker, payment: PaymentAnswer, baseUrl: string): Promise<void> {
  const { drops, unavailable, endedSessions } = driver.allowance;
  try {
    const paying = await signInToPay(frontDoor(driver, baseUrl), payment, demo.phone);
    const answer = await paying.confirm(paying.form());
    if (answer.statusCode !== 303)
      driver.breach('answer', `the wallet form of payment ${payment.id}: ${answer.statusCode}`);
  } catch (error) {
    if (error instanceof NoAnswer) return;
    if (!isUnfinishedLogin(error)) throw error;
    // The page asks the service itself who this is: what its callers may see, it may see as well.
    if (!drops && !unavailable && !endedSessions) driver.breach('answer', `from the wallet: ${error}`);
  }
}

function cardFor(random: Random): string {
  const drawn = random.next();
  if (drawn < 0.75) return cards.approved;
  if (drawn < 0.87) return cards.declined;
  if (drawn < 0.95) return cards.refundRejected;
  return drawn < 0.98 ? cards.lostThenApproved : cards.lostThenNever;
}

/** What is read is told as well: nobody may hear otherwise afterwards. */
async function readPayment({ driver }: Pick<Worker, 'driver'>, id: string): Promise<Told | undefined> {
  return readObject(driver, `/v1/payments/${id}`);
}

export async function readObject(driver: Driver, path: string): Promise<Told | undefined> {
  const known = driver.journal.told.get(path.slice(path.lastIndexOf('/') + 1));
  const answer = await driver.send({
    method: 'GET',
    path: `/checkout${path}`,
    headers: { authorization: basic() },
  });
  if (!answer || answer.status === 429) return undefined;
  if (answer.status !== 200) {
    driver.breach('lost', `${path}: ${answer.status} ${answer.body}`);
    return undefined;
  }
  const object = JSON.parse(answer.body) as Told;
  if (known && !mayFollow(known, object))
    driver.breach(
      'lost',
      `${path}: told ${known.status} ${known.version}, then ${object.status} ${object.version}`,
    );
  driver.journal.tell(object);
  return object;
}
