import { type Command, Option } from 'commander';
import { merchantNotFound } from '../checkout/change-merchant.ts';
import { resolvePayment } from '../checkout/contradictions.ts';
import type { Payment, PaymentId } from '../checkout/domain/payment.ts';
import { paymentJson, refundJson } from '../checkout/present.ts';
import { listAttemptsOfPayment } from '../checkout/store/attempts.ts';
import { type Alarm, listAlarmsOfPayment } from '../checkout/store/contradictions.ts';
import { findMerchant } from '../checkout/store/merchants.ts';
import { findPaymentOfAnybody, listEventsOfPayment, listPayments } from '../checkout/store/payments.ts';
import { listRefunds } from '../checkout/store/refunds.ts';
import { OperatorRefusal } from '../platform/operator-refusal.ts';
import { instant, uuid, visibleText, wholeNumber } from './arguments.ts';
import { type Answer, addChanging, addReading, onDatabase } from './command.ts';
import type { CommandDeps } from './deps.ts';
import { record, table } from './text.ts';

const id = '0199d1c2-7a52-7c60-b0b5-2c0b7f3f1a11';
const money = { value: '100.00', currency: 'AZN' };
const example = {
  id,
  status: 'succeeded',
  merchantId: 'SHOP1',
  terminalId: 'TRM1',
  amount: money,
  capturedAmount: money,
  refundedAmount: { value: '0.00', currency: 'AZN' },
  refundableAmount: money,
  paid: true,
  refundable: true,
  capture: true,
  confirmation: {
    type: 'REDIRECT',
    confirmationUrl: 'https://pay.example.com/pay/AZnRwnpS…',
    returnUrl: 'https://shop.example/thanks',
    locale: null,
  },
  paymentMethod: null,
  authorization: null,
  lastAttempt: null,
  cancellationDetails: null,
  description: null,
  merchantOrderId: null,
  metadata: {},
  createdAt: '2026-11-15T12:00:00.000Z',
  expiresAt: '2026-11-15T13:00:00.000Z',
  authorizedAt: '2026-11-15T12:01:00.000Z',
  capturedAt: '2026-11-15T12:01:00.000Z',
  canceledAt: null,
  test: false,
  version: 3,
};

export function paymentCommands(program: Command): void {
  const payment = program.command('payment').description('what customers paid');
  addReading(payment, 'show', {
    about: 'show a payment with its attempts and refunds',
    examples: [`tollgate payment show ${id}`],
    json: {
      payment: example,
      attempts: [
        {
          attemptId: id,
          method: 'card',
          status: 'approved',
          reason: null,
          card: null,
          startedAt: '2026-11-15T12:00:58.000Z',
          settledAt: '2026-11-15T12:01:00.000Z',
          reversal: null,
        },
      ],
      refunds: [],
      alarms: [{ kind: 'reversal', reference: id, resolvedAt: null, resolvedBy: null, resolution: null }],
    },
    more: 'Alarms are what needs a person: see tollgate payment resolve --help. The payment is as the merchant reads it by the API; refunds are too.',
  })
    .argument('<payment>', 'identifier of the payment', uuid)
    .action(onDatabase(show));
  resolveCommand(payment);
  addReading(payment, 'list', {
    about: 'list the payments of a merchant, newest first',
    examples: [
      'tollgate payment list --merchant SHOP1 --status pending',
      `tollgate payment list --merchant SHOP1 --from 2026-11-01 --to 2026-12-01 --before ${id}`,
    ],
    json: { items: [example], nextCursor: id },
    more: 'nextCursor is what --before takes to go on; null when there is no more.',
  })
    .requiredOption('--merchant <merchant>', 'whose payments')
    .addOption(
      new Option('--status <status>', 'only those').choices([
        'pending',
        'waiting_for_capture',
        'succeeded',
        'canceled',
      ]),
    )
    .option('--order <order>', 'only those with this merchantOrderId')
    .option('--from <instant>', 'created then or later', instant)
    .option('--to <instant>', 'created before then', instant)
    .option('--before <payment>', 'older than this one', uuid)
    .option('--limit <number>', 'how many at most (default: 50)', wholeNumber(1, 1000))
    .action(onDatabase(list));
  addReading(payment, 'events', {
    about: 'list what was told of a payment and its refunds, oldest first',
    examples: [`tollgate payment events ${id}`],
    json: {
      events: [
        {
          eventId: id,
          objectId: id,
          sequence: 1,
          type: 'payment.created',
          createdAt: '2026-11-15T12:00:00.000Z',
          payload: { id, type: 'payment.created' },
        },
      ],
    },
    more: 'With --json each event comes with its whole payload, as merchants get it.',
  })
    .argument('<payment>', 'identifier of the payment', uuid)
    .action(onDatabase(events));
}

function resolveCommand(payment: Command): void {
  addChanging(payment, 'resolve', {
    about: 'say how something was put right that the acquirer did against what was settled',
    examples: [`tollgate payment resolve ${id} --note "Refunded by bank transfer 2026-118, shop told"`],
    json: { paymentId: id, resolved: [{ kind: 'reversal', reference: id }] },
    more: `For what verify-ledger calls what_was_settled_stands and reversal_is_not_refused. Read the acquirer's report, settle with
the customer and the merchant by hand, then say how. It ends the alarms of this payment and posts nothing.`,
  })
    .argument('<payment>', 'identifier of the payment', uuid)
    .requiredOption('--note <text>', 'what was done, for whoever reads it later', visibleText(500))
    .action(onDatabase(resolve));
}

async function resolve(deps: CommandDeps, { note }: { note: string }, paymentId: string): Promise<Answer> {
  const payment = await known(deps, paymentId);
  const resolved = await resolvePayment(deps, { payment, note, actor: deps.actor });
  return {
    json: { paymentId, resolved },
    text: resolved.map(({ kind, reference }) => `The ${kind} ${reference} is resolved.`).join('\n'),
  };
}

async function show(deps: CommandDeps, _options: object, paymentId: string): Promise<Answer> {
  const payment = await known(deps, paymentId);
  const { merchantId } = payment;
  const attempts = await listAttemptsOfPayment(deps.db, payment);
  const refunds = await listRefunds(deps.db, {
    merchantId,
    paymentId: payment.id,
    merchantOrderId: null,
    status: null,
    createdFrom: null,
    createdTo: null,
    before: null,
    limit: 1000,
  });
  const alarms = await listAlarmsOfPayment(deps.db, payment);
  const json = paymentJson(deps.checkout, payment);
  const attemptTable = table(
    ['ATTEMPT', 'METHOD', 'STATUS', 'REASON', 'STARTED', 'SETTLED', 'REVERSAL'],
    attempts.map((one) => [
      one.attemptId,
      one.method,
      one.status,
      one.reason,
      one.startedAt,
      one.settledAt,
      one.reversal,
    ]),
  );
  const refundTable = table(
    ['REFUND', 'STATUS', 'AMOUNT', 'CREATED'],
    refunds.map((one) => [one.id, one.status, moneyText(refundJson(one).amount), one.createdAt]),
  );
  return {
    json: {
      payment: json,
      attempts: attempts.map((one) => ({
        attemptId: one.attemptId,
        method: one.method,
        status: one.status,
        reason: one.reason,
        card: one.card,
        startedAt: one.startedAt.toISOString(),
        settledAt: one.settledAt?.toISOString() ?? null,
        reversal: one.reversal,
      })),
      refunds: refunds.map(refundJson),
      alarms: alarms.map((one) => ({ ...one, resolvedAt: one.resolvedAt?.toISOString() ?? null })),
    },
    text: [paymentText(json), attemptTable, refundTable, ...alarmTable(alarms)].join('\n\n'),
  };
}

function alarmTable(alarms: Alarm[]): string[] {
  if (alarms.length === 0) return [];
  const rows = alarms.map((one) => [one.kind, one.reference, one.resolvedAt, one.resolvedBy, one.resolution]);
  return [table(['ALARM', 'REFERENCE', 'RESOLVED', 'BY', 'NOTE'], rows)];
}

type ListOptions = {
  merchant: string;
  status?: string;
  order?: string;
  from?: Date;
  to?: Date;
  before?: string;
  limit?: number;
};

async function list(deps: CommandDeps, options: ListOptions): Promise<Answer> {
  const { merchant, limit = 50 } = options;
  if (!(await findMerchant(deps.db, merchant))) throw merchantNotFound(merchant);
  const found = await listPayments(deps.db, {
    merchantId: merchant,
    status: options.status ?? null,
    merchantOrderId: options.order ?? null,
    createdFrom: options.from ?? null,
    createdTo: options.to ?? null,
    before: (options.before as PaymentId | undefined) ?? null,
    limit: limit + 1,
  });
  const page = found.slice(0, limit);
  const items = page.map((one) => paymentJson(deps.checkout, one));
  return {
    json: { items, nextCursor: found.length > limit ? (page.at(-1)?.id ?? null) : null },
    text: table(
      ['PAYMENT', 'STATUS', 'AMOUNT', 'CAPTURED', 'REFUNDED', 'ORDER', 'CREATED'],
      items.map((one) => [
        one.id,
        one.status,
        moneyText(one.amount),
        one.capturedAmount.value,
        one.refundedAmount.value,
        one.merchantOrderId,
        new Date(one.createdAt),
      ]),
    ),
  };
}

async function events(deps: CommandDeps, _options: object, paymentId: string): Promise<Answer> {
  const rows = await listEventsOfPayment(deps.db, await known(deps, paymentId));
  return {
    json: {
      events: rows.map((row) => ({
        eventId: row.eventId,
        objectId: row.objectId,
        sequence: row.sequence,
        type: row.type,
        createdAt: row.createdAt.toISOString(),
        payload: JSON.parse(row.payload) as unknown,
      })),
    },
    text: table(
      ['AT', 'TYPE', 'OBJECT', 'SEQUENCE', 'EVENT'],
      rows.map((row) => [row.createdAt, row.type, row.objectId, row.sequence, row.eventId]),
    ),
  };
}

async function known(deps: CommandDeps, paymentId: string): Promise<Payment> {
  const payment = await findPaymentOfAnybody(deps.db, paymentId as PaymentId);
  if (payment) return payment;
  throw new OperatorRefusal(
    'found',
    `There is no payment ${paymentId}; see those of a merchant with: tollgate payment list --merchant MERCHANT`,
  );
}

function moneyText(amount: { value: string; currency: string }): string {
  return `${amount.value} ${amount.currency}`;
}

function paymentText(payment: ReturnType<typeof paymentJson>): string {
  const canceled = payment.cancellationDetails;
  return record({
    payment: payment.id,
    status: payment.status,
    merchant: payment.merchantId,
    terminal: payment.terminalId,
    order: payment.merchantOrderId,
    amount: moneyText(payment.amount),
    captured: moneyText(payment.capturedAmount),
    refunded: moneyText(payment.refundedAmount),
    method: payment.paymentMethod?.type ?? null,
    'canceled because': canceled && `${canceled.reason} (${canceled.party})`,
    created: new Date(payment.createdAt),
    expires: new Date(payment.expiresAt),
    test: payment.test,
    version: payment.version,
  });
}
