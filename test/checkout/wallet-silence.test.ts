import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { after, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { sql } from '../../src/platform/db.ts';
import { startTestApp } from '../support/app.ts';
import { gate } from '../support/gate.ts';
import { createPayment } from '../support/merchant.ts';
import { redirectOf } from '../support/partner.ts';

/** What stands at our own address takes every connection, and never says a word. */
const silence = createServer().listen(0, '127.0.0.1');
await once(silence, 'listening');
after(() => silence.close());
const { port } = silence.address() as AddressInfo;
const service = await startTestApp({ BASE_URL: `http://127.0.0.1:${port}` });

test('a customer is answered although the single sign-on is silent for longer than we promise', async () => {
  const { confirmationUrl } = (await createPayment(service)).confirmation;
  const asked = service.app.inject({ url: `${new URL(confirmationUrl).pathname}/wallet` });
  const answer = await Promise.race([asked, delay(4_900)]);
  assert.ok(answer, 'no answer within 5 s');
  assert.equal(redirectOf(answer).href, `${confirmationUrl}?notice=wallet-unavailable`);
});

test('what they have waited for the database before counts as well: two silences do not add up', async (t) => {
  const { confirmationUrl } = (await createPayment(service)).confirmation;
  const ask = async () => {
    const begunAt = performance.now();
    const answer = await service.app.inject({ url: `${new URL(confirmationUrl).pathname}/wallet` });
    assert.equal(redirectOf(answer).href, `${confirmationUrl}?notice=wallet-unavailable`);
    return performance.now() - begunAt;
  };
  const alone = await ask();
  const [locked, payments, merchants] = [gate(), gate(), gate()];
  const unlocked = service.db.transaction(async (tx) => {
    await tx.run(sql`lock table checkout.merchants`);
    await service.db.transaction(async (inner) => {
      await inner.run(sql`lock table checkout.payments`);
      locked.open();
      await payments.opened;
    });
    await merchants.opened;
  });
  await locked.opened;
  const asked = ask();
  const begunAt = performance.now();
  await delay(1_700);
  payments.open();
  await delay(1_700);
  merchants.open();
  const waited = performance.now() - begunAt;
  const both = await asked;
  await unlocked;
  const added = (both - alone) / waited;
  t.diagnostic(`of what they had waited before, ${Math.round(added * 100)} % was added`);
  assert.ok(added < 0.7, `${added}`);
});
