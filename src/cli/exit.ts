import { CommanderError } from 'commander';
import { OperatorRefusal } from '../platform/operator-refusal.ts';
import { ConfigurationFaults } from '../platform/settings.ts';

/**
 * 0: done, and all is well. 1: the answer is no: what was asked for is not there or cannot be done as things stand,
 * or a check has found what should not be. 2: it could not be tried: a wrong argument, a wrong setting, no database.
 */
export const exitCodes = { well: 0, no: 1, fault: 2 } as const;
export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** Says on standard error what went wrong, and tells the code to end with. */
export function report(error: unknown): ExitCode {
  // Commander has said by itself what was wrong; help and version come this way too, with nothing wrong.
  if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.well : exitCodes.fault;
  if (error instanceof OperatorRefusal) {
    say(error.message);
    return error.because === 'found' ? exitCodes.no : exitCodes.fault;
  }
  if (error instanceof ConfigurationFaults) {
    for (const fault of error.faults) say(`${fault.name}: ${fault.problem} ${fault.remedy}`);
  } else {
    say(error instanceof Error ? error.message || error.name : String(error));
  }
  return exitCodes.fault;
}

export function say(text: string): void {
  process.stderr.write(`${text}\n`);
}

/** For a person who watches: on a terminal one line that changes, and nothing in a pipe or a log. */
export function progress(text: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\u001b[K${text}`);
}

export function progressDone(): void {
  if (process.stderr.isTTY) process.stderr.write('\r\u001b[K');
}
