#!/usr/bin/env node
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { Command, CommanderError, InvalidArgumentError } from 'commander';
import { version } from './app.ts';
import { verifyLedger } from './checkout/verify-ledger.ts';
import { environment, loadConfig } from './config.ts';
import { findRunningEmbeddedPostgres, startEmbeddedPostgres } from './platform/embedded-postgres.ts';
import { ConfigurationFaults } from './platform/settings.ts';

/** 0: as it should be. 1: the command has found what should not be. 2: it could not do its work. */
const exitCodes = { well: 0, found: 1, fault: 2 } as const;
type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

const program = new Command('tollgate')
  .description('Looks after a Tollgate: the same settings as the server, the same database.')
  .version(version)
  .exitOverride();

command('verify-ledger')
  .description('check every invariant of the ledger on one snapshot, while the server runs or without it')
  .option('--json', 'print the breaches as JSON')
  .option('--stuck-after <minutes>', 'how late the outcome of something may be asked for', minutes, 60)
  .action(({ json, stuckAfter }: { json?: true; stuckAfter: number }) =>
    end(async () => {
      const breaches = await withDatabase((url) =>
        verifyLedger({
          url,
          now: new Date(),
          stuckAfterMs: stuckAfter * 60_000,
          onProgress: (invariant) => say(`checking ${invariant}`),
        }),
      );
      if (json) process.stdout.write(`${JSON.stringify({ breaches }, null, 2)}\n`);
      else {
        for (const { invariant, object, expected, found } of breaches)
          process.stdout.write(`${invariant}: ${object}: expected ${expected}; found ${found}\n`);
      }
      say(breaches.length === 0 ? 'the ledger is clean' : `${breaches.length} breaches`);
      return breaches.length === 0 ? exitCodes.well : exitCodes.found;
    }),
  );

try {
  await program.parseAsync();
} catch (error) {
  // It has said by itself what was wrong; help and version come this way too, with nothing wrong.
  if (!(error instanceof CommanderError)) throw error;
  process.exitCode = error.exitCode === 0 ? exitCodes.well : exitCodes.fault;
}

function command(name: string): Command {
  return program.command(name).exitOverride();
}

async function end(work: () => Promise<ExitCode>): Promise<void> {
  try {
    process.exitCode = await work();
  } catch (error) {
    if (error instanceof ConfigurationFaults) {
      for (const fault of error.faults) say(`${fault.name}: ${fault.problem} ${fault.remedy}`);
    } else {
      say(error instanceof Error ? error.message || error.name : String(error));
    }
    process.exitCode = exitCodes.fault;
  }
}

/** Runs the work on the server's database; one that is embedded and not running runs for as long as the work takes. */
async function withDatabase<Result>(work: (url: string) => Promise<Result>): Promise<Result> {
  const { database } = loadConfig(environment(process.env));
  if (database.url) return work(database.url);
  const dataDir = resolve(database.dataDir);
  if (!existsSync(dataDir)) throw new Error(`There is no database in ${dataDir}.`);
  const running = await findRunningEmbeddedPostgres(dataDir);
  if (running) return work(running);
  const started = await startEmbeddedPostgres({ dataDir, log: say });
  try {
    return await work(started.url);
  } finally {
    await started.stop();
  }
}

function minutes(text: string): number {
  if (!/^\d{1,6}$/.test(text)) throw new InvalidArgumentError('a whole number of minutes');
  return Number(text);
}

function say(text: string): void {
  process.stderr.write(`${text}\n`);
}
