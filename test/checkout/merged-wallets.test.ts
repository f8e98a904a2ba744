import assert from 'node:assert/strict';
import { test } from 'node:test';
import { payByWallet } from '../../src/checkout/attempt.ts';
import type { PaymentId } from '../../src/checkout/domain/payment.ts';
import { topUpPosting } from '../../src/checkout/domain/posting.ts';
import { postForSure } from '../../src/checkout/store/ledger.ts';
import { verifyLedger } from '../../src/checkout/verify-ledger.ts';
import { createUser } from '../../src/identity/users.ts';
import { sql } from '../../src/platform/db.ts';
import { startTestApp } from '../support/app.ts';
import { createPayment, demoMerchant, order, refund } from '../support/merchant.ts';

const service = await startTestApp();
let next = 10;

test('the wallets of a merged person are the survivor’s, and a later refund follows them', async () => {
  const [survivorId, absorbedId] = [await person(10_00n), await person(50_00n)];
  const paid = await payFrom(absorbedId, '20.00');
  await merge(survivorId, absorbedId);
  assert.equal(await walletOf(survivorId), 40_00n);
  assert.equal(await walletOf(absorbedId), 0n);

  assert.equal((await refund(service, paid, '20.00')).json().status, 'succeeded');
  assert.equal(await walletOf(survivorId), 60_00n);
  assert.equal(await walletOf(absorbedId), 0n);
  await merge(survivorId, absorbedId);
  assert.equal(await walletOf(survivorId), 60_00n, 'merging twice moves nothing');
});

test('however a merge and a refund meet, no money stays with the account that is gone', async () => {
  for (let round = 0; round < 20; round++) {
    const [survivorId, absorbedId] = [await person(0n), await person(30_00n)];
    const paid = await payFrom(absorbedId, '30.00');
    await Promise.all([merge(survivorId, absorbedId), refund(service, paid, '30.00')]);
    assert.equal(await walletOf(absorbedId), 0n);
    assert.equal(await walletOf(survivorId), 30_00n);
  }
});

test('after all this the books are right', async () => {
  const url = service.config.database.url ?? '';
  assert.deepEqual(await verifyLedger({ url, now: new Date(), stuckAfterMs: 60_000 }), []);
});

async function person(minor: bigint) {
  const id = await createUser(service.areas.identity.users, { phone: `+9945020000${next++}`, actor: 'test' });
  if (minor > 0n) {
    const amount = { minor, currency: 'AZN' };
    const posting = topUpPosting({
      id: service.areas.checkout.deps.newId(),
      userId: id,
      amount,
      source: 'test',
    });
    await service.db.transaction((tx) => postForSure(tx, posting, new Date()));
  }
  return id;
}

async function payFrom(userId: string, value: string): Promise<string> {
  const payment = await createPayment(service, { amount: { ...order.amount, value } });
  const where = { merchantId: demoMerchant.merchantId, paymentId: payment.id as PaymentId };
  assert.ok(await payByWallet(service.areas.checkout.deps, where, userId, 0));
  return payment.id;
}

function merge(survivorId: Awaited<ReturnType<typeof person>>, absorbedId: typeof survivorId) {
  return service.areas.mergeUsers({ survivorId, absorbedId, phone: 'free', actor: 'test' });
}

async function walletOf(owner: string): Promise<bigint> {
  const found = await service.db.maybeOne<{ balance: bigint }>(
    sql`select balance from checkout.ledger_accounts where owner = ${owner} and kind = 'wallet' and currency = 'AZN'`,
  );
  return found?.balance ?? 0n;
}
