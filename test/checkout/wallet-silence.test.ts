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

test('what they have waited for the database before counts as well: two silences do not add up', async () => {
  const { confirmationUrl } = (await createPayment(service)).confirmation;
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
  const begunAt = performance.now();
  const asked = service.app.inject({ url: `${new URL(confirmationUrl).pathname}/wallet` });
  await delay(1_700);
  payments.open();
  await delay(1_700);
  merchants.open();
  const answer = await asked;
  const ms = performance.now() - begunAt;
  await unlocked;
  assert.equal(redirectOf(answer).href, `${confirmationUrl}?notice=wallet-unavailable`);
  assert.ok(ms < 5_800, `${ms} ms`);
});
