import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { after, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { startTestApp } from '../support/app.ts';
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
