import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { test } from 'node:test';
import { createCampaign } from '../../fuzz/campaign.ts';
import { fuzzParsers } from '../../fuzz/parsers.ts';
import { findingsText } from '../../fuzz/report.ts';
import { worldEnv, worldReplacements } from '../../fuzz/world.ts';
import { startTestApp } from '../support/app.ts';
import { assertBooks } from '../support/books.ts';
import { liftRequestRate } from '../support/merchant.ts';

/** The long form is `npm run fuzz -- --minutes 5`, and takes a seed to repeat what failed here. */
const seed = randomInt(1e9);

const service = await startTestApp(worldEnv, worldReplacements);
await liftRequestRate(service);

test('whatever is sent to an endpoint is answered as the document says', async () => {
  const campaign = await createCampaign(service, { seed });
  try {
    for (let round = 0; round < 2; round++) await campaign.round(round, { valid: 6, broken: 6, hostile: 4 });
  } finally {
    campaign.close();
  }
  assert.ok([...campaign.counts.values()].every(({ valid, hostile }) => valid === 12 && hostile === 8));
  const findings = campaign.findings();
  assert.equal(findings.length, 0, `seed ${seed}\n${findingsText(findings)}`);
});

test('after all this the books are right', () => assertBooks(service));

test('whatever is given to a parser is read or refused', async () => {
  const findings = await fuzzParsers(seed, 300);
  assert.equal(findings.length, 0, `seed ${seed}\n${findingsText(findings)}`);
});
