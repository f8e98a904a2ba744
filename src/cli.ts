#!/usr/bin/env node
import { report } from './cli/exit.ts';
import { buildProgram } from './cli/program.ts';

// Whoever reads our output may have seen enough, as `head` has.
process.stdout.on('error', () => {});

try {
  const program = await buildProgram(process.argv[2]);
  await program.parseAsync();
} catch (error) {
  process.exitCode = report(error);
}
