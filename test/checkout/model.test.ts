import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { payByWallet } from '../../src/checkout/attempt.ts';
import type { OperationOutcome } from '../../src/checkout/domain/acquirer.ts';
import type { PaymentId } from '../../src/checkout/domain/payment.ts';
import { topUpPosting } from '../../src/checkout/domain/posting.ts';
import { sweep } from '../../src/checkout/jobs.ts';
import { post } from '../../src/checkout/store/ledger.ts';
import { verifyLedger } from '../../src/checkout/verify-ledger.ts';
import { type Database, sql, type Transaction } from '../../src/platform/db.ts';
import { startTestApp } from '../support/app.ts';
import { testDatabaseUrl } from '../support/database.ts';
import { addMerchant, call, cardFormOf, cards, postForm, type TestMerchant } from '../support/merchant.ts';
import type { Answer } from '../support/partner.ts';

const leastCommands = 2_000;
const runs = Number(process.env.MODEL_RUNS ?? 70);

const url = await testDatabaseUrl();
const service = await startTestApp({ DATABASE_URL: url, LOG_LEVEL: 'silent' });
const { clock, db } = service;
const { deps } = service.areas.checkout;

/** Where a process can be lost in the middle of an operation, or an answer on its way. */
const faults = [
  'none',
  'abort_begin', // the first transaction is rolled back
  'vanish_begin', // it is committed, and nothing comes after it
  'lost_before', // the call to the acquirer does not arrive
  'lost_after', // its answer does not
  'abort_settle', // the outcome is known but not written down
  'vanish_settle', // it is written down, and the merchant never hears of it
] as const;
type Fault = (typeof faults)[number];
class Crash extends Error {}

/** The operation under way. */
const now: { fault: Fault; acquirerIsAsked: boolean; acquirerWasAsked: boolean } = {
  fault: 'none',
  acquirerIsAsked: false,
  acquirerWasAsked: false,
};

async function withFault<Result>(fault: Fault, work: () => Promise<Result>): Promise<Result> {
  Object.assign(now, { fault, acquirerIsAsked: false, acquirerWasAsked: false });
  try {
    return await work();
  } finally {
    now.fault = 'none';
  }
}

for (const kind of ['authorize', 'capture', 'refund'] as const) {
  const original = deps.acquirer[kind] as (asked: object) => Promise<OperationOutcome>;
  const faulty = async (asked: object): Promise<OperationOutcome> => {
    if (now.fault === 'lost_before') return { kind: 'unknown' };
    now.acquirerIsAsked = true;
    const outcome = await original(asked);
    Object.assign(now, { acquirerIsAsked: false, acquirerWasAsked: true });
    return now.fault === 'lost_after' ? { kind: 'unknown' } : outcome;
  };
  Object.assign(deps.acquirer, { [kind]: faulty });
}

const committed = db.transaction;
const faultyTransaction: Database['transaction'] = async <Result>(
  work: (tx: Transaction) => Promise<Result>,
) => {
  // The sandbox keeps its own books: they are another company's.
  if (now.acquirerIsAsked) return committed(work);
  const stage = now.acquirerWasAsked ? 'settle' : 'begin';
  if (now.fault === `abort_${stage}`) {
    now.fault = 'none';
    return committed(async (tx): Promise<Result> => {
      await work(tx);
      throw new Crash();
    });
  }
  const result = await committed(work);
  if (now.fault === `vanish_${stage}`) {
    now.fault = 'none';
    throw new Crash();
  }
  return result;
};
db.transaction = faultyTransaction;

// ---- the model: what a merchant may expect, in plain numbers

type Truth = 'approved' | 'declined' | 'failed' | 'challenge';
type ModelRefund = { key: string; minor: number };
type ModelPayment = {
  id: string;
  page: string;
  amount: number;
  capture: boolean;
  status: 'pending' | 'waiting_for_capture' | 'succeeded' | 'canceled';
  attempts: number;
  /** What the acquirer knows of the attempt whose outcome we do not know yet. */
  open: { truth: Truth; since: number; declinesAfter: boolean } | undefined;
  wallet: boolean;
  rejectsRefunds: boolean;
  captured: number;
  refunded: number;
  asked: number | undefined;
  pendingRefunds: ModelRefund[];
  expiresAt: number;
  captureBefore: number;
};

const terms = { feeBasisPoints: 150, feeFixed: 5n, balanceFloor: 0n };
const walletStart = 15_000;

class Model {
  payments: ModelPayment[] = [];
  available = 0;
  wallet = walletStart;

  settleAttempt(payment: ModelPayment, truth: Truth): void {
    payment.open = undefined;
    if (truth === 'approved' && payment.capture) this.captured(payment, payment.amount);
    else if (truth === 'approved') {
      payment.status = 'waiting_for_capture';
      payment.captureBefore = time() + 7 * dayMs;
    } else if (payment.attempts >= 5 || time() >= payment.expiresAt) payment.status = 'canceled';
  }

  captured(payment: ModelPayment, minor: number): void {
    payment.asked = undefined;
    payment.status = 'succeeded';
    payment.captured = minor;
    const fee = Math.floor((minor * terms.feeBasisPoints + 5_000) / 10_000) + Number(terms.feeFixed);
    this.available += minor - Math.min(fee, minor);
    if (payment.wallet) this.wallet += payment.amount - minor;
  }

  canceled(payment: ModelPayment): void {
    if (payment.wallet && payment.status === 'waiting_for_capture') this.wallet += payment.amount;
    payment.status = 'canceled';
  }

  settleRefund(payment: ModelPayment, refund: ModelRefund): void {
    payment.pendingRefunds = payment.pendingRefunds.filter((one) => one !== refund);
    if (payment.rejectsRefunds) this.available += refund.minor;
    else payment.refunded += refund.minor;
  }
}

const heldOf = (payment: ModelPayment) => payment.pendingRefunds.reduce((sum, { minor }) => sum + minor, 0);
const refundableOf = (payment: ModelPayment) => payment.captured - payment.refunded - heldOf(payment);

const dayMs = 86_400_000;
const time = () => clock.now().getTime();

// ---- the service under test, with what it has acknowledged

type Sent = {
  path: string;
  body: object | undefined;
  key: string;
  at: number;
  answer: Answer;
  /** Does it as if for the first time, when it turns out that nothing was done. */
  afresh: (model: Model, real: Real, key: string) => Promise<void>;
};
type Real = { shop: TestMerchant; walletUserId: string; sent: Sent[] };

async function openShop(): Promise<Real> {
  clock.set(new Date());
  const shop = await addMerchant(service, terms);
  const walletUserId = randomUUID();
  const amount = { minor: BigInt(walletStart), currency: 'AZN' };
  const topUp = topUpPosting({ id: randomUUID(), userId: walletUserId, amount, source: 'test' });
  await db.transaction((tx) => post(tx, topUp, clock.now()));
  return { shop, walletUserId, sent: [] };
}

async function send(
  real: Real,
  path: string,
  body: object | undefined,
  key: string,
  afresh: Sent['afresh'],
): Promise<Answer> {
  const answer = await call(service, 'POST', path, {
    ...(body ? { body } : {}),
    key,
    authorization: real.shop.authorization,
  });
  real.sent.push({ path, body, key, at: time(), answer, afresh });
  return answer;
}

const money = (minor: number) => ({ value: (minor / 100).toFixed(2), currency: 'AZN' });

type Row = {
  status: string;
  captured: number;
  refunded: number;
  held: number;
  attempts: number;
  open: boolean;
  asked: boolean;
};

/** Lets the model know what the jobs have settled meanwhile; how they settle it is for the model to say. */
async function follow(model: Model, real: Real, payment: ModelPayment): Promise<void> {
  const row = await db.one<Row>(sql`
    select status, captured::int, refunded::int, refund_held::int as held, attempts,
      open_attempt_id is not null as open, capture_lease_until is not null as asked
    from checkout.payments where merchant_id = ${real.shop.merchantId} and payment_id = ${payment.id}`);
  if (payment.open && !row.open) {
    model.settleAttempt(payment, payment.open.truth === 'challenge' ? 'declined' : payment.open.truth);
  } else if (row.status === 'canceled' && payment.status !== 'canceled' && isOver(payment)) {
    model.canceled(payment);
  }
  if (payment.asked !== undefined && !row.asked) model.captured(payment, payment.asked);
  for (const refund of [...payment.pendingRefunds]) {
    const { pending } = await db.one<{ pending: boolean }>(sql`
      select r.status = 'pending' as pending
      from checkout.idempotency_keys k
      join checkout.refunds r on r.merchant_id = k.merchant_id and r.refund_id = k.object_id
      where k.merchant_id = ${real.shop.merchantId} and k.key = ${refund.key}`);
    if (!pending) model.settleRefund(payment, refund);
  }
  assert.deepEqual(row, {
    status: payment.status,
    captured: payment.captured,
    refunded: payment.refunded,
    held: heldOf(payment),
    attempts: payment.attempts,
    open: payment.open !== undefined,
    asked: payment.asked !== undefined,
  });
}

function isOver(payment: ModelPayment): boolean {
  if (payment.status === 'pending') return !payment.open && time() >= payment.expiresAt;
  return payment.asked === undefined && time() >= payment.captureBefore;
}

async function followMoney(model: Model, real: Real): Promise<void> {
  const rows = await db.many<{ kind: string; balance: number }>(sql`
    select kind, balance::int from checkout.ledger_accounts
    where owner in (${real.shop.merchantId}, ${real.walletUserId})`);
  const balance = (kind: string) => rows.find((row) => row.kind === kind)?.balance ?? 0;
  assert.deepEqual(
    { available: balance('merchant_available'), wallet: balance('wallet') },
    { available: model.available, wallet: model.wallet },
  );
}

let commandsRun = 0;

/** A command about one of the payments that there are. */
class Step implements fc.AsyncCommand<Model, Real> {
  readonly #name: string;
  readonly #pick: number | undefined;
  readonly #work: (model: Model, real: Real, payment: ModelPayment) => Promise<void>;

  constructor(
    name: string,
    pick: number | undefined,
    work: (model: Model, real: Real, payment: ModelPayment) => Promise<void>,
  ) {
    this.#name = name;
    this.#pick = pick;
    this.#work = work;
  }

  check(model: Readonly<Model>): boolean {
    return this.#pick === undefined || model.payments.length > 0;
  }

  async run(model: Model, real: Real): Promise<void> {
    commandsRun++;
    const payment = model.payments[(this.#pick ?? 0) % Math.max(model.payments.length, 1)];
    await this.#work(model, real, payment as ModelPayment);
    for (const one of model.payments) await follow(model, real, one);
    await followMoney(model, real);
  }

  toString(): string {
    return this.#name;
  }
}

// ---- what can happen

const amount = fc.integer({ min: 1, max: 20_000 });
const pick = fc.nat({ max: 20 });
const fault = fc.oneof(
  { weight: 3, arbitrary: fc.constant<Fault>('none') },
  fc.constantFrom<Fault[]>(...faults),
);
/** How much of what there is: a little, all, and a little more than all. */
const share = fc.constantFrom(0.01, 0.3, 0.5, 0.6, 1, 1.01);
const part = (of: number, portion: number) => Math.max(1, Math.ceil(of * portion));

const create = fc.tuple(amount, fc.boolean()).map(
  ([minor, captures]) =>
    new Step(`create ${minor}${captures ? '' : ' to capture later'}`, undefined, async (model, real) => {
      const body = { ...real.shop.order, amount: money(minor), capture: captures };
      const answer = await send(real, '/v1/payments', body, randomUUID(), async () => {});
      assert.equal(answer.statusCode, 200, answer.body);
      const { id, confirmation } = answer.json<{ id: string; confirmation: { confirmationUrl: string } }>();
      model.payments.push({
        id,
        page: new URL(confirmation.confirmationUrl).pathname,
        amount: minor,
        capture: captures,
        status: 'pending',
        attempts: 0,
        open: undefined,
        wallet: false,
        rejectsRefunds: false,
        captured: 0,
        refunded: 0,
        asked: undefined,
        pendingRefunds: [],
        expiresAt: time() + 3600_000,
        captureBefore: 0,
      });
    }),
);

const truths: Record<string, Truth> = {
  approved: 'approved',
  declined: 'declined',
  challenge: 'challenge',
  challengeThenDeclined: 'challenge',
  lostThenApproved: 'approved',
  lostThenNever: 'failed',
  refundRejected: 'approved',
};
const card = fc.constantFrom('approved', 'approved', ...Object.keys(truths));

const pay = fc.tuple(pick, card, fault).map(
  ([at, name, failing]) =>
    new Step(`pay ${at} by ${name}, ${failing}`, at, async (model, real, payment) => {
      const page = await service.app.inject({ url: payment.page });
      // Whoever opens the page of a challenge makes it ask how that ended.
      await follow(model, real, payment);
      if (isOver(payment) && payment.status === 'pending') payment.status = 'canceled';
      const form = cardFormOf(page.body);
      assert.equal(form !== undefined, payment.status === 'pending' && !payment.open);
      if (!form) return;
      const number = cards[name as keyof typeof cards];
      const typed = { ...form.fields, number, expiry: '12/30', csc: '123', holder: 'A Customer' };
      const answer = await withFault(failing, () => postForm(service, form.action, typed));
      if (failing === 'none') assert.equal(answer.statusCode, 303);
      if (failing === 'abort_begin') return;
      payment.attempts++;
      const reached = failing !== 'vanish_begin' && failing !== 'lost_before';
      const truth = reached ? (truths[name] as Truth) : 'failed';
      payment.open = { truth, since: time(), declinesAfter: name === 'challengeThenDeclined' };
      if (truth === 'approved') payment.rejectsRefunds = name === 'refundRejected';
      const silent = name.startsWith('lost') || truth === 'challenge';
      if ((failing === 'none' || failing === 'vanish_settle') && !silent) model.settleAttempt(payment, truth);
    }),
);

const answerChallenge = fc.tuple(pick, fc.constantFrom('right', 'wrong', 'cancel'), fault).map(
  ([at, how, failing]) =>
    new Step(`answer the challenge of ${at}: ${how}, ${failing}`, at, async (model, real, payment) => {
      const open = await db.maybeOne<{ challengeUrl: string }>(sql`
        select challenge_url from checkout.attempts
        where merchant_id = ${real.shop.merchantId} and payment_id = ${payment.id} and challenge_url is not null`);
      if (!open || !payment.open) return;
      const fields = how === 'cancel' ? { action: 'cancel' } : { code: how === 'right' ? '1234' : '9999' };
      const answer = await postForm(service, open.challengeUrl, fields);
      const isLate = time() >= payment.open.since + 600_000;
      if (payment.open.truth === 'challenge' && (isLate || how === 'cancel')) payment.open.truth = 'declined';
      if (payment.open.truth === 'challenge' && how === 'right') {
        payment.open.truth = payment.open.declinesAfter ? 'declined' : 'approved';
      }
      // After three wrong codes it is over; before, the page asks again.
      if (payment.open.truth === 'challenge' && answer.statusCode === 303) payment.open.truth = 'declined';
      if (payment.open.truth === 'challenge') return;
      assert.equal(answer.statusCode, 303);
      await withFault(failing, () => service.app.inject({ url: `${payment.page}/return` }));
      if (failing !== 'abort_begin') model.settleAttempt(payment, payment.open.truth);
    }),
);

const payFromWallet = fc.tuple(pick, fault).map(
  ([at, failing]) =>
    new Step(`pay ${at} from the wallet, ${failing}`, at, async (model, real, payment) => {
      const where = { merchantId: real.shop.merchantId, paymentId: payment.id as PaymentId };
      const mayPay =
        payment.status === 'pending' && !payment.open && time() < payment.expiresAt && payment.attempts < 5;
      const paid = await withFault(failing, () =>
        payByWallet(deps, where, real.walletUserId, payment.attempts),
      ).catch((error: { code?: string }) => error);
      if (!mayPay) return assert.match(String((paid as { code?: string }).code), /^(payment|attempt)/);
      if (payment.amount > model.wallet) return assert.ok(paid === undefined || paid instanceof Error);
      if (failing === 'abort_begin') return;
      payment.attempts++;
      payment.wallet = true;
      model.wallet -= payment.amount;
      model.settleAttempt(payment, 'approved');
    }),
);

function captureOf(payment: ModelPayment, minor: number | undefined) {
  return async (model: Model, real: Real, key: string, failing: Fault = 'none'): Promise<void> => {
    const body = minor === undefined ? {} : { amount: money(minor) };
    const again = captureOf(payment, minor);
    const path = `/v1/payments/${payment.id}/capture`;
    const answer = await withFault(failing, () => send(real, path, body, key, again));
    const wanted = minor ?? payment.amount;
    const refusal =
      payment.status === 'pending'
        ? 'payment_not_capturable'
        : payment.status !== 'waiting_for_capture'
          ? 'payment_is_final'
          : payment.asked !== undefined
            ? 'capture_in_progress'
            : time() >= payment.captureBefore
              ? 'payment_not_capturable'
              : wanted > payment.amount
                ? 'capture_amount_exceeded'
                : undefined;
    if (refusal) return expectRefusal(answer, refusal, failing);
    if (failing === 'abort_begin') return;
    if (payment.wallet) {
      model.captured(payment, wanted);
      return;
    }
    payment.asked = wanted;
    if (failing === 'none') assert.equal(answer.statusCode, 200, answer.body);
    if (failing === 'none' || failing === 'vanish_settle') model.captured(payment, wanted);
  };
}

/** What is refused may get lost on its way as well. */
function expectRefusal(answer: Answer, code: string, failing: Fault): void {
  if (failing !== 'none' && answer.statusCode >= 500) return;
  assert.equal(answer.json<{ code: string }>().code, code, answer.body);
}

const capture = fc.tuple(pick, fc.option(share), fault).map(
  ([at, portion, failing]) =>
    new Step(`capture ${portion ?? 'all'} of ${at}, ${failing}`, at, async (model, real, payment) => {
      const minor = portion === null ? undefined : part(payment.amount, portion);
      await captureOf(payment, minor)(model, real, randomUUID(), failing);
    }),
);

function cancelOf(payment: ModelPayment) {
  return async (model: Model, real: Real, key: string, failing: Fault = 'none'): Promise<void> => {
    const path = `/v1/payments/${payment.id}/cancel`;
    const answer = await withFault(failing, () => send(real, path, undefined, key, cancelOf(payment)));
    if (isOver(payment) && payment.status === 'pending') {
      if (failing === 'abort_begin') return;
      payment.status = 'canceled';
    }
    const isFinal = payment.status === 'succeeded' || payment.status === 'canceled';
    const refusal = isFinal
      ? 'payment_is_final'
      : payment.open
        ? 'attempt_in_progress'
        : payment.asked !== undefined
          ? 'capture_in_progress'
          : undefined;
    if (refusal) return expectRefusal(answer, refusal, failing);
    if (failing === 'abort_begin') return;
    if (failing !== 'vanish_begin') assert.equal(answer.statusCode, 200, answer.body);
    model.canceled(payment);
  };
}

const cancel = fc
  .tuple(pick, fault)
  .map(
    ([at, failing]) =>
      new Step(`cancel ${at}, ${failing}`, at, (model, real, payment) =>
        cancelOf(payment)(model, real, randomUUID(), failing),
      ),
  );

function refundOf(payment: ModelPayment, minor: number) {
  return async (model: Model, real: Real, key: string, failing: Fault = 'none'): Promise<void> => {
    const body = { paymentId: payment.id, amount: money(minor) };
    const again = refundOf(payment, minor);
    const answer = await withFault(failing, () => send(real, '/v1/refunds', body, key, again));
    const refusal =
      payment.status !== 'succeeded'
        ? 'payment_not_refundable'
        : minor > refundableOf(payment)
          ? 'refund_amount_exceeded'
          : model.available - minor < Number(terms.balanceFloor)
            ? 'insufficient_merchant_balance'
            : undefined;
    if (refusal) return expectRefusal(answer, refusal, failing);
    if (failing === 'abort_begin') return;
    model.available -= minor;
    if (payment.wallet) {
      payment.refunded += minor;
      model.wallet += minor;
      return;
    }
    const held = { key, minor };
    payment.pendingRefunds.push(held);
    if (failing === 'none') {
      const expected = payment.rejectsRefunds ? 'canceled' : 'succeeded';
      assert.equal(answer.json<{ status: string }>().status, expected, answer.body);
    }
    if (failing === 'none' || failing === 'vanish_settle') model.settleRefund(payment, held);
  };
}

const refund = fc
  .tuple(pick, share, fault)
  .map(
    ([at, portion, failing]) =>
      new Step(`refund ${portion} of ${at}, ${failing}`, at, (model, real, payment) =>
        refundOf(payment, part(payment.captured || payment.amount, portion))(
          model,
          real,
          randomUUID(),
          failing,
        ),
      ),
  );

/** The same request under the same key: the same answer, or on with the same work. */
const retry = pick.map(
  (at) =>
    new Step(`retry ${at}`, undefined, async (model, real) => {
      const sent = real.sent.at(-1 - (at % Math.max(real.sent.length, 1)));
      // After three days the key leads to the object as it then stands, which is another test's business.
      if (!sent || time() - sent.at > 3 * dayMs - 60_000) return;
      if (sent.answer.statusCode >= 500) {
        // Whoever was at work is gone, and its lease is over.
        clock.move(11_000);
        const kept = await db.many(sql`
          select from checkout.idempotency_keys where merchant_id = ${real.shop.merchantId} and key = ${sent.key}
          union all select from checkout.answers where merchant_id = ${real.shop.merchantId} and key = ${sent.key}`);
        if (kept.length === 0) return sent.afresh(model, real, sent.key);
      }
      const again = await send(real, sent.path, sent.body, sent.key, sent.afresh);
      assert.ok(again.statusCode < 500, again.body);
      if (sent.answer.statusCode >= 500) return;
      assert.equal(again.headers['idempotency-replayed'], 'true');
      assert.equal(again.body, sent.answer.body);
    }),
);

const wait = fc
  .constantFrom(1_000, 5_000, 11_000, 120_000, 660_000, 3_660_000)
  .map((ms) => new Step(`wait ${ms / 1000} s`, undefined, async () => clock.move(ms)));
const waitForDays = fc.constant(new Step('wait 8 days', undefined, async () => clock.move(8 * dayMs)));

const runJobs = fault.map(
  (failing) => new Step(`run the jobs, ${failing}`, undefined, () => withFault(failing, () => sweep(deps))),
);

const commands = fc.commands(
  [
    create,
    create,
    pay,
    pay,
    pay,
    answerChallenge,
    payFromWallet,
    capture,
    capture,
    cancel,
    refund,
    refund,
    refund,
    retry,
    retry,
    wait,
    runJobs,
    waitForDays,
  ],
  { maxCommands: 100, size: 'max' },
);

/** Time passes and the jobs run until nothing is left to ask about. */
async function settleAll(model: Model, real: Real): Promise<void> {
  for (let round = 0; round < 3; round++) {
    clock.move(3_660_000);
    await sweep(deps);
    for (const payment of model.payments) await follow(model, real, payment);
  }
  await followMoney(model, real);
  for (const { id, status, open, asked, pendingRefunds } of model.payments) {
    assert.notEqual(status, 'pending', id);
    assert.deepEqual([open, asked, pendingRefunds], [undefined, undefined, []], id);
  }
}

/** The acquirer's books: what they say was taken and given back is what we say. */
async function assertAcquirerAgrees(real: Real): Promise<void> {
  const different = await db.many(sql`
    select a.reference, a.reversed, a.captured, a.refunded, p.status, p.captured as ours, p.refunded as ours_refunded
    from checkout.sandbox_authorizations a
    left join checkout.payments p on p.merchant_id = a.merchant_id and p.paid_attempt_id::text = a.reference
    where a.merchant_id = ${real.shop.merchantId} and a.status = 'approved'
      and case when p.payment_id is null or p.status = 'canceled' then not a.reversed
        else a.reversed or a.captured <> p.captured or a.refunded <> p.refunded end`);
  assert.deepEqual(different, []);
}

test('T68 whatever is done, lost, crashed and repeated, the service does what the model says and the books are right', async (t) => {
  await fc.assert(
    fc.asyncProperty(commands, async (cmds) => {
      const model = new Model();
      const real = await openShop();
      await fc.asyncModelRun(() => ({ model, real }), cmds);
      await settleAll(model, real);
      await assertAcquirerAgrees(real);
      assert.deepEqual(await verifyLedger({ url, now: clock.now(), stuckAfterMs: 0 }), []);
    }),
    { numRuns: runs },
  );
  t.diagnostic(`${commandsRun} commands in ${runs} runs`);
  assert.ok(commandsRun >= leastCommands, `only ${commandsRun} commands were run`);
});
