import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tortureEmbedded } from '../../torture/campaign.ts';

/** The long form, with all faults, is `npm run torture`. */
test('a few rounds of the torture: nothing acknowledged is lost or doubled, whatever is killed or torn', async (t) => {
  const report = await tortureEmbedded(t, {
    ...{ seed: 7, nodes: 2, ms: Number.POSITIVE_INFINITY },
    faults: ['kill-server', 'kill-postgres', 'torn-line', 'rolling-restart'],
    ...{ shops: 3, people: 1, ownDisk: false },
    say: (line) => t.diagnostic(line),
  });
  assert.equal(report.rounds, 4);
  assert.ok(report.acknowledged > 4);
  // How long an answer took is printed above; this machine may be busy with the other tests.
  assert.deepEqual(
    report.breaches.filter(({ kind }) => kind !== 'slow'),
    [],
  );
});
