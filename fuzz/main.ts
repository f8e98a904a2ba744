/**
 * Sends valid, broken and hostile requests to every endpoint of our own OpenAPI document, over HTTP, to a service on a
 * PostgreSQL of its own, and strange texts to every parser.
 * `npm run fuzz -- --minutes 5 --seed 1 --only "POST /checkout/v1/payments"`
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { packageRoot } from '../src/package.ts';
import { startEmbeddedPostgres } from '../src/platform/embedded-postgres.ts';
import { migrate, readMigrations } from '../src/platform/migrate.ts';
import { openTestApp } from '../test/support/app.ts';
import { liftRequestRate } from '../test/support/merchant.ts';
import { createCampaign } from './campaign.ts';
import { fuzzParsers, parserNames } from './parsers.ts';
import { findingsText, tableOf } from './report.ts';
import { worldEnv, worldReplacements } from './world.ts';

const { values } = parseArgs({
  options: { minutes: { type: 'string', default: '1' }, seed: { type: 'string' }, only: { type: 'string' } },
});
const minutes = Number(values.minutes);
const seed = Number(values.seed ?? Math.floor(Math.random() * 1e9));
if (!(minutes > 0) || !Number.isInteger(seed)) throw new Error('--minutes takes a number, --seed an integer');

// Ctrl-C ends the round; what was found so far is still told, and nothing is left behind.
const interrupted = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.once(signal, () => interrupted.abort());

say(`seed ${seed}, ${minutes} min`);
const dataDir = mkdtempSync(join(tmpdir(), 'tollgate-fuzz-'));
const postgres = await startEmbeddedPostgres({
  dataDir,
  log: () => {},
  settings: { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' },
});
try {
  const { url } = postgres;
  const migrations = readMigrations(new URL('migrations/', packageRoot));
  await migrate({ ownerUrl: url, serverUrl: url, migrations, log: () => {} });
  const service = await openTestApp({ ...worldEnv, DATABASE_URL: url }, worldReplacements);
  try {
    await liftRequestRate(service);
    const campaign = await createCampaign(service, { seed, only: values.only });
    const parserFindings = await untilTheEnd(campaign);
    campaign.close();
    const findings = [...campaign.findings(), ...parserFindings];
    say(`${tableOf(campaign.counts)}\n\n${findingsText(findings)}`);
    process.exitCode = findings.length > 0 || interrupted.signal.aborted ? 1 : 0;
  } finally {
    await service.close();
  }
} finally {
  await postgres.stop();
  rmSync(dataDir, { recursive: true, force: true });
}

async function untilTheEnd(campaign: Awaited<ReturnType<typeof createCampaign>>) {
  const end = Date.now() + minutes * 60_000;
  const parserFindings = [];
  const textsEach = 200;
  let texts = 0;
  for (let round = 0; Date.now() < end && !interrupted.signal.aborted; round++) {
    await campaign.round(round, { valid: 12, broken: 12, hostile: 6 }, interrupted.signal);
    if (values.only === undefined) {
      parserFindings.push(...(await fuzzParsers(seed + round, textsEach)));
      texts += textsEach;
    }
    const sent = [...campaign.counts.values()].reduce(
      (sum, one) => sum + one.valid + one.broken + one.hostile,
      0,
    );
    process.stderr.write(
      `\r${sent} requests, ${campaign.findings().length + parserFindings.length} findings, ${Math.max(0, Math.round((end - Date.now()) / 1000))} s left `,
    );
  }
  say(`\n${parserNames.length} parsers, ${texts} texts each: ${parserNames.join(', ')}`);
  return parserFindings;
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}
