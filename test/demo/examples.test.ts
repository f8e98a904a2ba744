import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { after, test } from 'node:test';
import { packageRoot } from '../../src/package.ts';
import { startBrowser } from '../support/browser.ts';
import { testDatabaseUrl } from '../support/database.ts';
import { freePort } from '../support/free-port.ts';
import { startOwnServer } from '../support/server.ts';

const port = await freePort();
await startOwnServer({ after }, { DATABASE_URL: await testDatabaseUrl(), PORT: String(port) });
const browser = await startBrowser();

/** Runs an example until the work is done. Both listen on port 4000, which the demo clients are registered for. */
async function whileRunning(
  file: string,
  env: Record<string, string>,
  work: () => Promise<void>,
): Promise<void> {
  const child = spawn(process.execPath, [new URL(file, packageRoot).pathname], {
    env: { PATH: process.env.PATH ?? '', ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const closed = once(child, 'close');
  try {
    await Promise.race([
      once(child.stdout, 'data'),
      closed.then(() => assert.fail(`${file} ended by itself`)),
    ]);
    await work();
  } finally {
    child.kill();
    await closed;
  }
}

test('the example of a partner signs a person in and out', async () => {
  await whileRunning('examples/partner.mjs', { ISSUER: `http://localhost:${port}` }, async () => {
    const page = await browser.newPage({ locale: 'en' });
    await page.goto('http://localhost:4000');
    await page.getByRole('link', { name: 'Sign in' }).click();
    await page.fill('#phone', '+994500000001');
    await page.getByRole('button').click();
    await page.fill('#code', '111111');
    await page.getByText('+994500000001').waitFor();
    await page.getByRole('link', { name: 'Sign out' }).click();
    await page.getByText('Nobody is signed in').waitFor();
    await page.close();
  });
});

test('the example of a merchant sells, hears of it, and gives part back', async () => {
  await whileRunning('examples/merchant.mjs', { CHECKOUT: `http://localhost:${port}/checkout` }, async () => {
    const page = await browser.newPage({ locale: 'en' });
    await page.goto('http://localhost:4000');
    await page.getByRole('button', { name: 'Buy' }).click();
    await page.fill('#number', '4242424242424242');
    await page.fill('#expiry', '1230');
    await page.fill('#csc', '123');
    await page.fill('#holder', 'Aysel M');
    await page.getByRole('button', { name: /^Pay/ }).click();
    await page.getByRole('link', { name: 'Back to Demo Shop' }).click();
    for (let tries = 0; tries < 60 && !(await page.content()).includes('payment.succeeded'); tries++) {
      await page.waitForTimeout(500);
      await page.reload();
    }
    assert.match(await page.content(), /payment\.succeeded/);
    await page.getByRole('button', { name: 'Give 5.00 back' }).click();
    await page.getByText('of which 5.00 went back').waitFor();

    // Whoever else knows the address neither sees the order nor gives money back.
    const paymentId = new URL(page.url()).searchParams.get('paymentId') ?? '';
    assert.equal((await fetch(page.url())).status, 404);
    const stranger = await fetch('http://localhost:4000/refund', {
      method: 'POST',
      body: new URLSearchParams({ paymentId }),
      redirect: 'manual',
    });
    assert.equal(stranger.status, 404);
    await page.reload();
    await page.getByText('of which 5.00 went back').waitFor();
    const [cookie] = await page.context().cookies('http://localhost:4000');
    assert.deepEqual([cookie?.name, cookie?.httpOnly, cookie?.sameSite], ['visitor', true, 'Lax']);
    await page.close();
  });
});
