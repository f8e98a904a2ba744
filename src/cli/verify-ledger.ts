import type { Command } from 'commander';
import { verifyLedger } from '../checkout/verify-ledger.ts';
import { wholeNumber } from './arguments.ts';
import { addReading, onDatabase } from './command.ts';
import { exitCodes, say } from './exit.ts';

export function verifyLedgerCommand(program: Command): void {
  addReading(program, 'verify-ledger', {
    about: 'check every invariant of the ledger on one snapshot, while the server runs or without it',
    examples: ['tollgate verify-ledger', 'tollgate verify-ledger --stuck-after 30 --json'],
    json: {
      breaches: [
        {
          invariant: 'balance_is_sum_of_entries',
          object: 'SHOP1 merchant_available AZN',
          expected: '2000',
          found: '2001',
        },
      ],
    },
    more: 'Nothing that it finds mends itself: keep the database as it is, and look for the cause before anything is changed.\nWhat the acquirer did against what was settled, or refuses to give back, is settled by hand, then: tollgate payment resolve\nIt ends with 1 when there is a breach.',
  })
    .option(
      '--stuck-after <minutes>',
      'how late the outcome of something may be asked for',
      wholeNumber(0, 999_999),
      60,
    )
    .action(
      onDatabase(async ({ url, now }, { stuckAfter }: { stuckAfter: number }) => {
        const breaches = await verifyLedger({
          url,
          now: now(),
          stuckAfterMs: stuckAfter * 60_000,
          onProgress: (invariant) => say(`checking ${invariant}`),
        });
        say(breaches.length === 0 ? 'the ledger is clean' : `${breaches.length} breaches`);
        return {
          json: { breaches },
          text: breaches
            .map(
              ({ invariant, object, expected, found }) =>
                `${invariant}: ${object}: expected ${expected}; found ${found}`,
            )
            .join('\n'),
          exitCode: breaches.length === 0 ? exitCodes.well : exitCodes.no,
        };
      }),
    );
}
