import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import { after, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { Webhook } from 'standardwebhooks';
import { guardAcquirer } from '../../src/checkout/acquirers/guarded.ts';
import { createHttpAcquirer, type HttpAcquirerOptions } from '../../src/checkout/acquirers/http.ts';
import { createSandboxAcquirer, type SandboxOptions } from '../../src/checkout/acquirers/sandbox.ts';
import { sandboxAcsRoutes } from '../../src/checkout/acquirers/sandbox-acs-routes.ts';
import type {
  Acquirer,
  AuthorizeCall,
  AuthorizeOutcome,
  OperationCall,
  OperationOutcome,
} from '../../src/checkout/domain/acquirer.ts';
import { openDatabase, sql } from '../../src/platform/db.ts';
import { createHttpServer } from '../../src/platform/http.ts';
import { createLogger } from '../../src/platform/log.ts';
import { createMetrics } from '../../src/platform/metrics.ts';
import { createTestClock, startTestApp } from '../support/app.ts';
import { testDatabase } from '../support/database.ts';
import { freePort } from '../support/free-port.ts';
import { listen } from '../support/listen.ts';
import { createPayment, payByCard } from '../support/merchant.ts';

const { db } = await testDatabase();
const walletOnly = await startTestApp({ ACQUIRER: 'none' });

const clock = createTestClock();
clock.set(new Date('2030-01-02T03:04:05.678Z'));
const { now } = clock;

let lines = '';
const log = createLogger({ level: 'trace', destination: { write: (line) => (lines += line) } });

const merchantId = 'DEMOMERCHANT001';
const returnUrl = 'https://pay.example/checkout/pay/token/return?attempt=7';
const acsUrl = 'https://pay.example/checkout/sandbox/acs';
/** Longer than a real one, so that it cannot stand in a log or a table by chance. */
const securityCode = '73910264508';
const azn = (minor: bigint) => ({ minor, currency: 'AZN' });

const usedNumbers = new Set<string>();

function payment(number: string, more: Partial<AuthorizeCall> = {}): AuthorizeCall {
  usedNumbers.add(number);
  return {
    reference: randomUUID(),
    merchantId,
    terminalId: 'DEMOTRM1',
    amount: azn(10_000n),
    card: { number, expiryMonth: 12, expiryYear: 2031, securityCode, holder: 'CANARY HOLDER' },
    capture: true,
    returnUrl,
    ...more,
  };
}

function about(call: { reference: string }, minor: bigint, more: Partial<OperationCall> = {}): OperationCall {
  return {
    reference: randomUUID(),
    authorization: call.reference,
    merchantId,
    amount: azn(minor),
    ...more,
  };
}

const moneyCalls = ['authorize', 'capture', 'reverse', 'refund'] as const;
const questions = ['complete', 'inquireAuthorization', 'inquireOperation'] as const;

/** Every call of an acquirer, about nothing in particular. */
function call(acquirer: Acquirer, kind: keyof Acquirer): Promise<AuthorizeOutcome | OperationOutcome> {
  const paid = payment(approved);
  if (kind === 'authorize') return acquirer.authorize(paid);
  if (kind === 'capture' || kind === 'reverse' || kind === 'refund') return acquirer[kind](about(paid, 1n));
  return acquirer[kind](paid);
}

const openSandbox = (more: Partial<SandboxOptions> = {}) =>
  createSandboxAcquirer({ db, now, acsUrl, secret: 'a secret of the test', ...more });
const sandbox = openSandbox();

const approved = '4242424242424242';
const challenged = '4000000000003220';
const declined = (reason: string) => ({ kind: 'declined', reason });
const refused = (reason: string) => ({ kind: 'refused', reason });

async function authorized(number = approved, more: Partial<AuthorizeCall> = {}): Promise<AuthorizeCall> {
  const call = payment(number, more);
  assert.equal((await sandbox.authorize(call)).kind, 'approved');
  return call;
}

// The sandbox.

for (const number of ['4242424242424242', '4111111111111111', '5555555555554444', '4000000000005126']) {
  test(`card ${number} is approved`, async () => {
    const outcome = await sandbox.authorize(payment(number));
    assert.equal(outcome.kind, 'approved');
    if (outcome.kind !== 'approved') return;
    assert.match(outcome.approval.rrn, /^\d{12}$/);
    assert.match(outcome.approval.authCode, /^[A-Z0-9]{6}$/);
    assert.equal(outcome.approval.threeDSecure, false);
  });
}

for (const [number, reason] of [
  ['4000000000000002', 'general_decline'],
  ['4000000000009995', 'insufficient_funds'],
  ['4000000000000069', 'card_expired'],
  ['4000000000000127', 'invalid_csc'],
  ['4100000000000019', 'fraud_suspected'],
  ['378282246310005', 'payment_method_restricted'],
  ['4242424242424241', 'invalid_card_number'],
] as const) {
  test(`card ${number} is declined with ${reason}, and so it stays`, async () => {
    const call = payment(number);
    assert.deepEqual(await sandbox.authorize(call), declined(reason));
    assert.deepEqual(await sandbox.inquireAuthorization(call), declined(reason));
    assert.deepEqual(await sandbox.capture(about(call, 1n)), refused('general_decline'));
  });
}

test('card …0119 does not answer; an inquiry says approved, and from then on everybody does', async () => {
  const call = payment('4000000000000119');
  assert.deepEqual(await sandbox.authorize(call), { kind: 'unknown' });
  assert.deepEqual(await sandbox.authorize(call), { kind: 'unknown' });
  const inquired = await sandbox.inquireAuthorization(call);
  assert.equal(inquired.kind, 'approved');
  assert.deepEqual(await sandbox.inquireAuthorization(call), inquired);
  assert.deepEqual(await sandbox.authorize(call), inquired);
  assert.equal((await sandbox.refund(about(call, 10_000n))).kind, 'done');
});

test('card …0259 does not answer; an inquiry says that it never happened, and so it stays', async () => {
  const call = payment('4000000000000259');
  assert.deepEqual(await sandbox.authorize(call), { kind: 'unknown' });
  assert.deepEqual(await sandbox.inquireAuthorization(call), { kind: 'failed' });
  assert.deepEqual(await sandbox.authorize(call), { kind: 'failed' });
  assert.deepEqual(await sandbox.refund(about(call, 1n)), refused('general_decline'));
});

test('the same reference twice is one authorization with one answer, whatever card comes the second time', async () => {
  const call = payment(approved);
  const first = await sandbox.authorize(call);
  assert.deepEqual(await sandbox.authorize(call), first);
  assert.deepEqual(await sandbox.authorize({ ...call, card: payment('4000000000000002').card }), first);
  assert.deepEqual(await sandbox.authorize({ ...call, amount: azn(9_999n) }), declined('general_decline'));
  assert.deepEqual(await sandbox.inquireAuthorization(call), first);
});

test('twenty equal authorizations at once are one', async () => {
  const call = payment(approved);
  const outcomes = await Promise.all(Array.from({ length: 20 }, () => sandbox.authorize(call)));
  assert.equal(new Set(outcomes.map((outcome) => JSON.stringify(outcome))).size, 1);
  assert.equal(outcomes[0]?.kind, 'approved');
});

test('twenty equal refunds at once are one, and twenty different ones stop at what was captured', async () => {
  const call = await authorized();
  const same = about(call, 4_000n);
  const equal = await Promise.all(Array.from({ length: 20 }, () => sandbox.refund(same)));
  assert.equal(new Set(equal.map((outcome) => JSON.stringify(outcome))).size, 1);
  assert.equal(equal[0]?.kind, 'done');

  const others = await Promise.all(Array.from({ length: 20 }, () => sandbox.refund(about(call, 1_000n))));
  assert.equal(others.filter(({ kind }) => kind === 'done').length, 6);
  assert.equal(others.filter(({ kind }) => kind === 'refused').length, 14);
});

test('the same reference belongs to each merchant apart', async () => {
  const call = await authorized();
  const stranger = { reference: call.reference, merchantId: 'ANOTHER' };
  assert.deepEqual(await sandbox.inquireAuthorization(stranger), { kind: 'failed' });
  assert.deepEqual(
    await sandbox.refund(about(call, 1n, { merchantId: 'ANOTHER' })),
    refused('general_decline'),
  );
});

test('a capture takes at most what was authorised, once', async () => {
  const held = await authorized(approved, { capture: false });
  assert.deepEqual(await sandbox.refund(about(held, 1n)), refused('general_decline'));
  assert.deepEqual(await sandbox.capture(about(held, 10_001n)), refused('general_decline'));
  assert.deepEqual(
    await sandbox.capture(about(held, 1n, { amount: { minor: 1n, currency: 'USD' } })),
    refused('general_decline'),
  );
  const capture = about(held, 10_000n);
  const first = await sandbox.capture(capture);
  assert.equal(first.kind, 'done');
  assert.deepEqual(await sandbox.capture(capture), first);
  assert.deepEqual(await sandbox.inquireOperation(capture), first);
  assert.deepEqual(await sandbox.capture(about(held, 1n)), refused('general_decline'));
  assert.deepEqual(await sandbox.capture(about(await authorized(), 1n)), refused('general_decline'));
});

test('refunds end at what was captured, to the last unit', async () => {
  const held = await authorized(approved, { capture: false });
  assert.equal((await sandbox.capture(about(held, 6_000n))).kind, 'done');
  assert.deepEqual(await sandbox.refund(about(held, 6_001n)), refused('general_decline'));
  assert.equal((await sandbox.refund(about(held, 5_999n))).kind, 'done');
  assert.deepEqual(await sandbox.refund(about(held, 2n)), refused('general_decline'));
  assert.equal((await sandbox.refund(about(held, 1n))).kind, 'done');
  assert.deepEqual(await sandbox.reverse(about(held, 10_000n)), refused('general_decline'));
});

test('card …5126 is captured, and every refund of it is refused', async () => {
  const call = await authorized('4000000000005126');
  const refund = about(call, 1n);
  assert.deepEqual(await sandbox.refund(refund), refused('rejected_by_payee'));
  assert.deepEqual(await sandbox.inquireOperation(refund), refused('rejected_by_payee'));
});

test('a reversal gives back an authorization, held or captured, and ends it', async () => {
  for (const capture of [true, false]) {
    const call = await authorized(approved, { capture });
    assert.deepEqual(await sandbox.reverse(about(call, 9_999n)), refused('general_decline'));
    const reversal = about(call, 10_000n);
    const first = await sandbox.reverse(reversal);
    assert.equal(first.kind, 'done');
    assert.deepEqual(await sandbox.reverse(reversal), first);
    assert.deepEqual(await sandbox.reverse(about(call, 10_000n)), refused('general_decline'));
    assert.deepEqual(await sandbox.capture(about(call, 1n)), refused('general_decline'));
    assert.deepEqual(await sandbox.refund(about(call, 1n)), refused('general_decline'));
  }
});

test('operations on an unknown authorization are refused', async () => {
  for (const kind of ['capture', 'reverse', 'refund'] as const) {
    const call = about({ reference: randomUUID() }, 1n);
    assert.deepEqual(await sandbox[kind](call), refused('general_decline'));
  }
});

test('a reference of one operation does not pass for another', async () => {
  const call = await authorized(approved, { capture: false });
  const capture = about(call, 5_000n);
  assert.equal((await sandbox.capture(capture)).kind, 'done');
  assert.deepEqual(await sandbox.refund(capture), refused('general_decline'));
  assert.deepEqual(await sandbox.capture({ ...capture, amount: azn(1n) }), refused('general_decline'));
});

test('an authorization that was asked about and had not come never happens, even when it comes later', async () => {
  const late = payment(approved);
  assert.deepEqual(await sandbox.inquireAuthorization(late), { kind: 'failed' });
  assert.deepEqual(await sandbox.authorize(late), { kind: 'failed' });
});

test('an operation that was asked about and had not come can still be sent under its reference', async () => {
  const refund = about(await authorized(), 10_000n);
  assert.deepEqual(await sandbox.inquireOperation(refund), { kind: 'failed' });
  assert.equal((await sandbox.refund(refund)).kind, 'done');
  assert.equal((await sandbox.inquireOperation(refund)).kind, 'done');
});

test('an answer that got lost is found again by an inquiry', async () => {
  let loss: 'before' | 'after' = 'after';
  const lossy = openSandbox({ loseAnswers: () => loss });
  const call = payment(approved);
  assert.deepEqual(await lossy.authorize(call), { kind: 'unknown' });
  assert.equal((await lossy.inquireAuthorization(call)).kind, 'approved');
  const refund = about(call, 1n);
  assert.deepEqual(await lossy.refund(refund), { kind: 'unknown' });
  assert.equal((await lossy.inquireOperation(refund)).kind, 'done');

  loss = 'before';
  const never = payment(approved);
  assert.deepEqual(await lossy.authorize(never), { kind: 'unknown' });
  assert.deepEqual(await lossy.inquireAuthorization(never), { kind: 'failed' });
});

test('while the books are away every outcome is unknown', async () => {
  const url = `postgres://nobody@127.0.0.1:${await freePort()}/none`;
  const away = openDatabase({ url, poolSize: 1, onConnectionError: () => {} });
  const acquirer = openSandbox({ db: away });
  for (const kind of [...moneyCalls, ...questions]) {
    assert.deepEqual(await call(acquirer, kind), { kind: 'unknown' }, kind);
  }
  await away.close();
});

// The access-control page.

const app = createHttpServer({
  log,
  metrics: createMetrics(undefined),
  baseUrl: 'https://pay.example',
  trustProxy: false,
});
await app.register(sandboxAcsRoutes, { prefix: '/checkout', acs: sandbox.acs });
after(() => app.close());

async function challenge(number = challenged, more: Partial<AuthorizeCall> = {}) {
  const call = payment(number, more);
  const outcome = await sandbox.authorize(call);
  assert.equal(outcome.kind, 'challenge');
  if (outcome.kind !== 'challenge') throw new Error('no challenge');
  assert.ok(outcome.url.startsWith(`${acsUrl}/`));
  return { call, outcome, path: new URL(outcome.url).pathname };
}

const open = (path: string) => app.inject({ method: 'GET', url: path });
const answer = (path: string, fields: Record<string, string>) =>
  app.inject({
    method: 'POST',
    url: path,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    payload: new URLSearchParams(fields).toString(),
  });
const confirm = (path: string, code: string) => answer(path, { code, action: 'confirm' });

function assertGoesBack(response: { statusCode: number; headers: Record<string, unknown> }) {
  assert.equal(response.statusCode, 303);
  assert.equal(response.headers.location, returnUrl);
}

test('a challenge answered with the right code is approved with 3-D Secure', async () => {
  const { call, outcome, path } = await challenge();
  assert.deepEqual(await sandbox.authorize(call), outcome);
  assert.deepEqual(await sandbox.complete(call), outcome);
  assert.deepEqual(await sandbox.inquireAuthorization(call), outcome);

  const page = await open(path);
  assert.equal(page.statusCode, 200);
  assert.match(page.body, /autocomplete="one-time-code"/);
  assert.match(page.body, /100\.00 AZN/);
  assert.doesNotMatch(page.body, /<script/);
  assert.match(String(page.headers['content-security-policy']), /form-action 'self' https:\/\/pay\.example;/);

  assertGoesBack(await confirm(path, ' 12 34 '));
  const completed = await sandbox.complete(call);
  assert.equal(completed.kind, 'approved');
  if (completed.kind === 'approved') assert.equal(completed.approval.threeDSecure, true);
  assert.deepEqual(await sandbox.inquireAuthorization(call), completed);
  assert.equal((await sandbox.refund(about(call, 10_000n))).kind, 'done');

  // Back, refresh and a second tab change nothing any more.
  assertGoesBack(await open(path));
  assertGoesBack(await answer(path, { action: 'cancel' }));
  assert.deepEqual(await sandbox.complete(call), completed);
});

test('a challenge of an amount that is only held is captured later', async () => {
  const { call, path } = await challenge(challenged, { capture: false });
  assert.deepEqual(await sandbox.capture(about(call, 1n)), refused('general_decline'));
  assertGoesBack(await confirm(path, '1234'));
  assert.deepEqual(await sandbox.refund(about(call, 1n)), refused('general_decline'));
  assert.equal((await sandbox.capture(about(call, 10_000n))).kind, 'done');
});

test('card …1629 is declined although its code was right', async () => {
  const { call, path } = await challenge('4000008400001629');
  assertGoesBack(await confirm(path, '1234'));
  assert.deepEqual(await sandbox.complete(call), declined('general_decline'));
});

test('two wrong codes may be followed by the right one, a third one ends the challenge', async () => {
  const lucky = await challenge();
  for (const left of ['2 tries are left', 'One try is left']) {
    const page = await confirm(lucky.path, '0000');
    assert.equal(page.statusCode, 200);
    assert.ok(page.body.includes(left), page.body);
  }
  assertGoesBack(await confirm(lucky.path, '1234'));
  assert.equal((await sandbox.complete(lucky.call)).kind, 'approved');

  const { call, path } = await challenge();
  await confirm(path, '0000');
  await confirm(path, '');
  assertGoesBack(await confirm(path, '12345'));
  assert.deepEqual(await sandbox.complete(call), declined('3d_secure_failed'));
  assertGoesBack(await confirm(path, '1234'));
  assert.deepEqual(await sandbox.inquireAuthorization(call), declined('3d_secure_failed'));
});

test('wrong codes sent at once count each', async () => {
  const { call, path } = await challenge();
  await Promise.all(Array.from({ length: 10 }, () => confirm(path, '0000')));
  assert.deepEqual(await sandbox.complete(call), declined('3d_secure_failed'));
});

test('cancelling a challenge declines it', async () => {
  const { call, path } = await challenge();
  assertGoesBack(await answer(path, { code: '1234', action: 'cancel' }));
  assert.deepEqual(await sandbox.complete(call), declined('3d_secure_failed'));
});

test('a challenge can be answered for ten minutes', async () => {
  const inTime = await challenge();
  const asked = await challenge();
  const tooLate = await challenge();
  clock.move(10 * 60_000 - 1);
  assertGoesBack(await confirm(inTime.path, '1234'));
  assert.equal((await sandbox.complete(inTime.call)).kind, 'approved');
  assert.deepEqual(await sandbox.inquireAuthorization(asked.call), asked.outcome);
  clock.move(1);
  assertGoesBack(await confirm(tooLate.path, '1234'));
  assert.deepEqual(await sandbox.complete(tooLate.call), declined('3d_secure_failed'));
  assert.deepEqual(await sandbox.inquireAuthorization(asked.call), declined('3d_secure_failed'));
  assertGoesBack(await confirm(asked.path, '1234'));
  assert.deepEqual(await sandbox.inquireAuthorization(asked.call), declined('3d_secure_failed'));
});

test('who knows the attempt but not the address cannot answer its challenge', async () => {
  const { call, path } = await challenge();
  const other = await challenge();
  const signature = path.slice(path.lastIndexOf('.') + 1);
  const otherSignature = other.path.slice(other.path.lastIndexOf('.') + 1);
  for (const forged of [
    call.reference,
    `${merchantId}.${call.reference}`,
    `${merchantId}.${call.reference}.`,
    `${merchantId}.${call.reference}.${otherSignature}`,
    `${merchantId}.${call.reference}.${signature.slice(0, -2)}`,
    `${merchantId}x.${call.reference}.${signature}`,
    '%00',
  ]) {
    assert.equal((await open(`/checkout/sandbox/acs/${forged}`)).statusCode, 404, forged);
    assert.equal((await confirm(`/checkout/sandbox/acs/${forged}`, '1234')).statusCode, 404, forged);
  }
  assert.equal((await sandbox.complete(call)).kind, 'challenge');
  const elsewhere = openSandbox({ secret: 'another secret' });
  assert.equal(await elsewhere.acs.find(decodeURIComponent(path.split('/').at(-1) ?? '')), undefined);
});

// The operator's gateway over HTTP.

const secret = 'any text, şifrə, 12 €, and long enough';
const verifier = new Webhook(`whsec_${Buffer.from(secret, 'utf8').toString('base64')}`);

type Received = {
  url: string | undefined;
  headers: IncomingHttpHeaders;
  text: string;
  body: Record<string, unknown>;
};

async function gateway(reply: (response: ServerResponse, request: Received) => void) {
  const received: Received[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const text = Buffer.concat(chunks).toString('utf8');
    const call = { url: request.url, headers: request.headers, text, body: JSON.parse(text) };
    received.push(call);
    reply(response, call);
  });
  return { url: `http://127.0.0.1:${await listen(server)}/bank/`, received };
}

const json = (status: number, body: unknown) => (response: ServerResponse) => {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(typeof body === 'string' ? body : JSON.stringify(body));
};
const overHttp = (url: string, more: Partial<HttpAcquirerOptions> = {}) =>
  createHttpAcquirer({ url, secret, timeoutMs: 10_000, now: () => new Date(), log, ...more });

const approval = { outcome: 'approved', rrn: '012345678901', authCode: 'A1B2C3', threeDSecure: false };
test('the gateway gets one signed request for each call, which the Standard Webhooks library verifies', async () => {
  const { url, received } = await gateway((response, { body }) => {
    const operation =
      ['capture', 'reverse', 'refund'].includes(String(body.call)) || body.about === 'operation';
    json(200, operation ? { outcome: 'done', rrn: null } : approval)(response);
  });
  const acquirer = overHttp(url);
  const paid = payment(approved);
  const refund = about(paid, 1_050n);
  const { rrn, authCode } = approval;
  const expected = { kind: 'approved', approval: { rrn, authCode, threeDSecure: false } };
  assert.deepEqual(await acquirer.authorize(paid), expected);
  assert.deepEqual(await acquirer.complete(paid), expected);
  for (const kind of ['capture', 'reverse', 'refund'] as const) {
    assert.deepEqual(await acquirer[kind](refund), { kind: 'done', rrn: null });
  }
  assert.deepEqual(await acquirer.inquireAuthorization(paid), expected);
  assert.deepEqual(await acquirer.inquireOperation(refund), { kind: 'done', rrn: null });

  const { reference, terminalId } = paid;
  const operation = {
    reference: refund.reference,
    authorization: reference,
    merchantId,
    amount: { value: '10.50', currency: 'AZN' },
  };
  assert.deepEqual(
    received.map(({ url, body }) => [url, body]),
    [
      [
        '/bank/authorize',
        {
          call: 'authorize',
          reference,
          merchantId,
          terminalId,
          amount: { value: '100.00', currency: 'AZN' },
          capture: true,
          returnUrl,
          card: paid.card,
        },
      ],
      ['/bank/complete', { call: 'complete', reference, merchantId }],
      ['/bank/capture', { call: 'capture', ...operation }],
      ['/bank/reverse', { call: 'reverse', ...operation }],
      ['/bank/refund', { call: 'refund', ...operation }],
      ['/bank/inquire', { call: 'inquire', about: 'authorization', reference, merchantId }],
      ['/bank/inquire', { call: 'inquire', about: 'operation', reference: refund.reference, merchantId }],
    ],
  );

  const stranger = new Webhook(`whsec_${Buffer.from('another secret').toString('base64')}`);
  for (const { text, headers } of received) {
    assert.equal(headers['content-type'], 'application/json');
    verifier.verify(text, headers as Record<string, string>);
    assert.throws(() => stranger.verify(text, headers as Record<string, string>), /No matching signature/);
    assert.throws(
      () => verifier.verify(text.replace('"', ' "'), headers as Record<string, string>),
      /No matching signature/,
    );
  }
  assert.equal(new Set(received.map(({ headers }) => headers['webhook-id'])).size, received.length);
});

for (const [said, expected] of [
  [{ outcome: 'declined', reason: 'insufficient_funds' }, declined('insufficient_funds')],
  [{ outcome: 'failed' }, { kind: 'failed', answered: true }],
  [{ outcome: 'unknown' }, { kind: 'unknown' }],
  [
    { outcome: 'challenge', url: 'https://bank.example/acs?x=1' },
    { kind: 'challenge', url: 'https://bank.example/acs?x=1' },
  ],
  [{ outcome: 'challenge', url: 'javascript:alert(1)' }, { kind: 'unknown' }],
  [{ outcome: 'challenge', url: '/acs' }, { kind: 'unknown' }],
  [{ outcome: 'declined', reason: 'bad_mood' }, { kind: 'unknown' }],
  [{ outcome: 'declined' }, { kind: 'unknown' }],
  [{ ...approval, rrn: '0123456789012' }, { kind: 'unknown' }],
  [{ ...approval, threeDSecure: 'true' }, { kind: 'unknown' }],
  [{ ...approval, reason: 'insufficient_funds' }, { kind: 'unknown' }],
  [{ outcome: 'done', rrn: null }, { kind: 'unknown' }],
  ['{"outcome":"declined","outcome":"approved","reason":"card_expired"}', { kind: 'unknown' }],
  ['<html>', { kind: 'unknown' }],
  ['', { kind: 'unknown' }],
  ['null', { kind: 'unknown' }],
  [' '.repeat(17_000) + JSON.stringify(approval), { kind: 'unknown' }],
] as const) {
  const shown = typeof said === 'string' ? said.trim().slice(0, 40) : JSON.stringify(said);
  test(`a gateway that says ${shown} to an authorization means ${expected.kind}`, async () => {
    const { url } = await gateway(json(200, said));
    assert.deepEqual(await overHttp(url).authorize(payment(approved)), expected);
  });
}

test('a gateway refuses a refund with a reason, in 200 or 4xx', async () => {
  for (const status of [200, 422]) {
    const { url } = await gateway(json(status, { outcome: 'refused', reason: 'rejected_by_payee' }));
    assert.deepEqual(await call(overHttp(url), 'refund'), refused('rejected_by_payee'));
  }
  const { url } = await gateway(json(402, { outcome: 'declined', reason: 'card_expired' }));
  assert.deepEqual(await call(overHttp(url), 'authorize'), declined('card_expired'));
});

test('a gateway that took nothing has failed a payment, but has not said anything about an earlier one', async () => {
  for (const [error, failed] of [
    ['invalid_request', { kind: 'failed', answered: true }],
    ['not_supported', { kind: 'failed', answered: true }],
    ['unauthorized', { kind: 'failed' }],
    ['too_many_requests', { kind: 'failed' }],
  ] as const) {
    const acquirer = overHttp((await gateway(json(400, { error }))).url);
    for (const kind of moneyCalls) assert.deepEqual(await call(acquirer, kind), failed, kind);
    for (const kind of questions) assert.deepEqual(await call(acquirer, kind), { kind: 'unknown' }, kind);
  }
});

test('a connection that could not be opened has failed a payment, and leaves a question open', async () => {
  const port = await freePort();
  const lookup = (code: string) => async () => {
    throw Object.assign(new Error('no address'), { code, syscall: 'getaddrinfo' });
  };
  for (const acquirer of [
    overHttp(`http://127.0.0.1:${port}`),
    overHttp(`http://two-addresses.example:${port}`, { resolve: async () => ['127.0.0.1', '::1'] }),
    overHttp('http://gateway.example', { resolve: lookup('ENOTFOUND') }),
    overHttp('http://gateway.example', { resolve: lookup('EAI_AGAIN') }),
  ]) {
    for (const kind of moneyCalls) assert.deepEqual(await call(acquirer, kind), { kind: 'failed' }, kind);
    for (const kind of questions) assert.deepEqual(await call(acquirer, kind), { kind: 'unknown' }, kind);
  }
});

test('faults after the request has left are unknown for every call', async () => {
  const faults: Record<string, (response: ServerResponse) => void> = {
    'server error': json(500, approval),
    unavailable: json(503, { error: 'unauthorized' }),
    redirect: (response) => void response.writeHead(307, { location: '/elsewhere' }).end(),
    'a foreign 404': json(404, '<h1>Not Found</h1>'),
    'a 409 that nobody knows': json(409, { error: 'reference_used' }),
    'an approval in 4xx': json(400, approval),
    'an answer that got lost': (response) => void response.socket?.destroy(),
    'half an answer': (response) => {
      response.writeHead(200, { 'content-length': 1000 });
      response.write('{"outcome":"failed"', () => response.socket?.destroy());
    },
    'not HTTP': (response) => void response.socket?.end('oops\r\n\r\n'),
  };
  for (const [name, fault] of Object.entries(faults)) {
    const acquirer = overHttp((await gateway(fault)).url);
    for (const kind of [...moneyCalls, ...questions]) {
      assert.deepEqual(await call(acquirer, kind), { kind: 'unknown' }, `${name}: ${kind}`);
    }
  }
});

test('a gateway that does not answer in time leaves the outcome unknown, and is asked once', async () => {
  const { url, received } = await gateway(() => {});
  const acquirer = overHttp(url, { timeoutMs: 300 });
  assert.deepEqual(await call(acquirer, 'authorize'), { kind: 'unknown' });
  assert.deepEqual(await call(acquirer, 'inquireAuthorization'), { kind: 'unknown' });
  assert.ok(received.length <= 2);
});

// The guard around any acquirer.

/** Answers what it is told to, and counts. */
function fakeAcquirer(outcomes: (kind: keyof Acquirer, made: number) => unknown) {
  const made: (keyof Acquirer)[] = [];
  const respond = (kind: keyof Acquirer) => async () => {
    made.push(kind);
    return (await outcomes(kind, made.length)) as never;
  };
  const kinds = [...moneyCalls, ...questions];
  const acquirer = Object.fromEntries(kinds.map((kind) => [kind, respond(kind)])) as unknown as Acquirer;
  return { acquirer, made };
}

function guarded(acquirer: Acquirer, more: { timeoutMs?: number; counted?: string[] } = {}) {
  return guardAcquirer(acquirer, {
    now,
    timeoutMs: more.timeoutMs ?? 10_000,
    breaker: { failures: 5, openMs: 10_000 },
    log,
    count: (kind, outcome) => void more.counted?.push(`${kind} ${outcome}`),
  });
}

const paidOutcome = { kind: 'approved', approval: { rrn: '1', authCode: '2', threeDSecure: false } };

test('a call that takes too long is unknown', async () => {
  const { acquirer, made } = fakeAcquirer(() => new Promise(() => {}));
  const counted: string[] = [];
  for (const kind of [...moneyCalls, ...questions]) {
    const guard = guarded(acquirer, { timeoutMs: 20, counted });
    assert.deepEqual(await call(guard, kind), { kind: 'unknown' });
  }
  assert.equal(made.length, 7);
  assert.equal(counted.filter((line) => line.endsWith(' unknown')).length, 7);
});

test('an error thrown is unknown, and what it says about the card is not logged', async () => {
  const { acquirer, made } = fakeAcquirer(() => {
    throw new Error(`cannot send ${approved}\n    at ${securityCode}`);
  });
  assert.deepEqual(await call(guarded(acquirer), 'authorize'), { kind: 'unknown' });
  assert.deepEqual(made, ['authorize']);
  assert.match(lines, /the acquirer threw/);
});

test('an authorization is never repeated, the rest once', async () => {
  for (const outcome of ['unknown', 'failed']) {
    const { acquirer, made } = fakeAcquirer(() => ({ kind: outcome }));
    await call(guarded(acquirer), 'authorize');
    assert.deepEqual(made, ['authorize']);
  }
  for (const kind of ['capture', 'reverse', 'refund', ...questions] as const) {
    const { acquirer, made } = fakeAcquirer((_, at) => {
      if (at === 1) throw Object.assign(new Error('gone'), { code: 'ECONNRESET' });
      return { kind: 'done', rrn: null };
    });
    assert.deepEqual(await call(guarded(acquirer), kind), { kind: 'done', rrn: null });
    assert.deepEqual(made, [kind, kind]);

    const hopeless = fakeAcquirer(() => ({ kind: 'unknown' }));
    assert.deepEqual(await call(guarded(hopeless.acquirer), kind), { kind: 'unknown' });
    assert.equal(hopeless.made.length, 2);
  }
});

test('what took long is not repeated', async () => {
  const { acquirer, made } = fakeAcquirer(async () => {
    await delay(150);
    return { kind: 'unknown' };
  });
  assert.deepEqual(await call(guarded(acquirer, { timeoutMs: 200 }), 'refund'), { kind: 'unknown' });
  await delay(100);
  assert.deepEqual(made, ['refund']);
});

test('a second try that failed does not make the first one undone', async () => {
  const inTurn = () => fakeAcquirer((_, at) => ({ kind: at === 1 ? 'unknown' : 'failed' })).acquirer;
  assert.deepEqual(await call(guarded(inTurn()), 'refund'), { kind: 'unknown' });
  assert.deepEqual(await call(guarded(inTurn()), 'inquireOperation'), { kind: 'failed' });
  const { acquirer, made } = fakeAcquirer(() => ({ kind: 'failed' }));
  assert.deepEqual(await call(guarded(acquirer), 'inquireAuthorization'), { kind: 'failed' });
  assert.equal(made.length, 1);
});

test('after five failures in a row nothing is sent for a while; then one call tries, and its success closes the breaker', async () => {
  let outcome: unknown = { kind: 'unknown' };
  const { acquirer, made } = fakeAcquirer(() => outcome);
  const counted: string[] = [];
  const guard = guarded(acquirer, { counted });
  for (let at = 0; at < 4; at++) await call(guard, 'authorize');
  outcome = paidOutcome;
  await call(guard, 'authorize');
  outcome = { kind: 'unknown' };
  for (let at = 0; at < 5; at++) assert.deepEqual(await call(guard, 'authorize'), { kind: 'unknown' });
  assert.equal(made.length, 10);

  for (const kind of moneyCalls) assert.deepEqual(await call(guard, kind), { kind: 'failed' });
  for (const kind of questions) assert.deepEqual(await call(guard, kind), { kind: 'unknown' });
  clock.move(9_999);
  assert.deepEqual(await call(guard, 'authorize'), { kind: 'failed' });
  assert.equal(made.length, 10);
  assert.equal(counted.filter((line) => line.endsWith('refused_by_breaker')).length, 8);

  // One probe at a time; when it fails, the wait begins anew.
  clock.move(1);
  const [probe, beside] = await Promise.all([call(guard, 'authorize'), call(guard, 'authorize')]);
  assert.deepEqual([probe, beside], [{ kind: 'unknown' }, { kind: 'failed' }]);
  assert.equal(made.length, 11);
  clock.move(9_999);
  assert.deepEqual(await call(guard, 'authorize'), { kind: 'failed' });

  clock.move(1);
  outcome = paidOutcome;
  assert.deepEqual(await call(guard, 'authorize'), paidOutcome);
  assert.deepEqual(await call(guard, 'authorize'), paidOutcome);
  assert.equal(made.length, 13);
});

test('a question without an answer, sent when the wait is over, leaves it to the next call to try', async () => {
  let outcome: unknown = { kind: 'unknown' };
  const { acquirer, made } = fakeAcquirer((kind) => (kind === 'authorize' ? outcome : { kind: 'unknown' }));
  const guard = guarded(acquirer);
  for (let at = 0; at < 5; at++) await call(guard, 'authorize');
  clock.move(10_000);
  for (const kind of questions) assert.deepEqual(await call(guard, kind), { kind: 'unknown' });
  assert.equal(made.length, 11);
  assert.deepEqual(await call(guard, 'authorize'), { kind: 'unknown' });
  assert.deepEqual(await call(guard, 'authorize'), { kind: 'failed' });

  clock.move(10_000);
  outcome = paidOutcome;
  assert.deepEqual(await call(guard, 'inquireAuthorization'), { kind: 'unknown' });
  for (let at = 0; at < 2; at++) assert.deepEqual(await call(guard, 'authorize'), paidOutcome);
});

test('declines and questions without an answer never open the breaker', async () => {
  const { acquirer, made } = fakeAcquirer((kind) =>
    kind === 'authorize' ? declined('general_decline') : { kind: 'unknown' },
  );
  const guard = guarded(acquirer);
  for (let at = 0; at < 20; at++) await call(guard, 'inquireAuthorization');
  for (let at = 0; at < 20; at++) await call(guard, 'authorize');
  assert.equal(made.length, 60);
});

test('what is wrong with one request alone does not open the breaker, and is not sent again', async () => {
  for (const [status, said, opens] of [
    [400, { error: 'invalid_request' }, false],
    [400, { error: 'not_supported' }, false],
    [200, { outcome: 'failed' }, false],
    [401, { error: 'unauthorized' }, true],
    [429, { error: 'too_many_requests' }, true],
    [503, {}, true],
  ] as const) {
    const { url, received } = await gateway(json(status, said));
    const guard = guarded(overHttp(url));
    for (let at = 0; at < 10; at++) await call(guard, 'authorize');
    assert.equal(received.length, opens ? 5 : 10, JSON.stringify(said));
    if (opens) continue;
    await call(guard, 'refund');
    assert.equal(received.length, 11);
  }
});

test('without an acquirer nothing is sent, and nobody can tell what became of what was sent before', async () => {
  const { acquirer } = walletOnly.areas.checkout.deps;
  for (const kind of moneyCalls) assert.deepEqual(await call(acquirer, kind), { kind: 'failed' }, kind);
  for (const kind of questions) assert.deepEqual(await call(acquirer, kind), { kind: 'unknown' }, kind);
});

// This one stands last: it looks at what all the others have left behind.

test('no card number and no security code stands in the log or in any table', async () => {
  const tables = await db.many<{ name: string }>(sql`
    select format('%I.%I', table_schema, table_name) as name from information_schema.tables
    where table_type = 'BASE TABLE' and table_schema not in ('pg_catalog', 'information_schema')`);
  let rows = '';
  for (const { name } of tables) {
    const text = `select coalesce(string_agg(t::text, chr(10)), '') as text from ${name} t`;
    rows += (await db.one<{ text: string }>({ name: '', text, values: [] })).text;
  }
  assert.ok(rows.includes('3d_secure_failed'));
  assert.ok(lines.includes('the acquirer did not answer'));
  assert.ok(usedNumbers.size > 12);
  for (const canary of [...usedNumbers, securityCode, 'CANARY HOLDER']) {
    assert.ok(!rows.includes(canary), `${canary} in a table`);
    assert.ok(!lines.includes(canary), `${canary} in the log`);
  }
});

test('operators see in the metrics how the acquirer answers, and what the breaker kept from it', async () => {
  const answers = [approval, { outcome: 'declined', reason: 'general_decline' }];
  const { url, received } = await gateway((response) => {
    const said = answers.shift();
    json(said ? 200 : 503, said ?? {})(response);
  });
  const service = await startTestApp({ ACQUIRER: 'http', ACQUIRER_URL: url, ACQUIRER_SECRET: secret });
  service.clock.set(new Date());
  for (let at = 0; at < 8; at++) await payByCard(service, await createPayment(service));
  assert.equal(received.length, 7);
  const { body } = await service.app.inject({ url: '/metrics' });
  assert.deepEqual(body.match(/^checkout_acquirer_calls_total.*$/gm)?.sort(), [
    'checkout_acquirer_calls_total{call="authorize",outcome="approved"} 1',
    'checkout_acquirer_calls_total{call="authorize",outcome="declined"} 1',
    'checkout_acquirer_calls_total{call="authorize",outcome="refused_by_breaker"} 1',
    'checkout_acquirer_calls_total{call="authorize",outcome="unknown"} 5',
  ]);
});
