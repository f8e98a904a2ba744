import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { readOnceASecond } from '../../src/platform/recent-reads.ts';
import { gate } from '../support/gate.ts';

test('a read that fails late does not make us forget the one after it', async () => {
  const silence = gate();
  let reads = 0;
  const find = readOnceASecond(async () => {
    if (++reads > 1) return 'found';
    await silence.opened;
    throw new Error('the database did not answer');
  });
  const first = find('one');
  await delay(1_100);
  assert.equal(await find('one'), 'found');
  silence.open();
  await assert.rejects(first);
  assert.equal(await find('one'), 'found');
  assert.equal(reads, 2);
});
