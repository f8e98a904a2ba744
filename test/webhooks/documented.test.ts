import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { packageRoot } from '../../src/package.ts';
import { eventTypes } from '../../src/webhooks/domain/event-types.ts';
import { startTestApp } from '../support/app.ts';
import { freePort } from '../support/free-port.ts';
import { call } from '../support/merchant.ts';
import { addEndpoint } from '../support/receiver.ts';
import { temporaryFolder, until } from '../support/server.ts';

const service = await startTestApp();
const guide = readFileSync(new URL('docs/events.md', packageRoot), 'utf8');

test('the receiver of the guide takes what is genuine and refuses what is not', async (t) => {
  const [, program] = /```js\n(.*?)```/s.exec(guide) ?? [];
  assert.ok(program);
  const file = join(await temporaryFolder(t), 'receiver.mjs');
  writeFileSync(file, program);
  const port = await freePort();
  const { id, secret } = await addEndpoint(service, { url: `http://localhost:${port}/webhooks` });
  const child = spawn(process.execPath, [file], {
    env: { WEBHOOK_SECRET: secret, PORT: String(port) },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const closed = once(child, 'close');
  t.after(async () => {
    child.kill('SIGKILL');
    await closed;
  });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => (output += chunk));
  const sendTest = async () =>
    (await call(service, 'POST', `/v1/webhook-endpoints/${id}/test`)).json<{
      result: string;
      responseStatus: number | null;
    }>();
  await until('it takes the event', async () => (await sendTest()).result === 'delivered');
  assert.match(output, /^webhook\.test/);

  const forged = await fetch(`http://localhost:${port}/`, {
    method: 'POST',
    headers: {
      'webhook-id': 'x',
      'webhook-timestamp': String(Math.floor(Date.now() / 1000)),
      'webhook-signature': `v1,${Buffer.alloc(32).toString('base64')}`,
    },
    body: '{}',
  });
  assert.equal(forged.status, 401);
  // During a rotation both secrets sign; a day later the old one no longer does.
  await call(service, 'POST', `/v1/webhook-endpoints/${id}/rotate-secret`);
  assert.equal((await sendTest()).responseStatus, 204);
  await call(service, 'POST', `/v1/webhook-endpoints/${id}/rotate-secret`, { body: { force: true } });
  assert.equal((await sendTest()).responseStatus, 401);
});

test('the guide names every event there is', () => {
  for (const type of [...eventTypes.merchant, ...eventTypes.partner]) {
    assert.ok(guide.includes(`\`${type}\``), type);
  }
});
