import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Command } from 'commander';
import { shown } from '../../src/cli/command.ts';
import { buildProgram } from '../../src/cli/program.ts';
import { packageRoot } from '../../src/package.ts';
import { type Database, sql } from '../../src/platform/db.ts';

export type Outcome = { code: number | null; stdout: string; stderr: string };

/** Runs the built program as an operator would; what stands in double quotes is one argument. */
export async function tollgate(
  env: Record<string, string>,
  line: string,
  options: { stdin?: string } = {},
): Promise<Outcome> {
  const child = spawn(process.execPath, ['dist/cli.js', ...argumentsOf(line)], {
    cwd: new URL('.', packageRoot).pathname,
    env: { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '', ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const outcome: Outcome = { code: null, stdout: '', stderr: '' };
  child.stdout.on('data', (chunk: Buffer) => (outcome.stdout += chunk));
  child.stderr.on('data', (chunk: Buffer) => (outcome.stderr += chunk));
  // A command that reads nothing may have ended before it could be written to.
  child.stdin.on('error', () => {});
  child.stdin.end(options.stdin ?? '');
  await once(child, 'close');
  return { ...outcome, code: child.exitCode };
}

export function argumentsOf(line: string): string[] {
  return [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '');
}

const program = await buildProgram();

/** The command line against one database, with the checks that hold for every command. */
export function commandLine(env: Record<string, string>) {
  const run = (line: string, options?: { stdin?: string }) => tollgate(env, line, options);
  return {
    run,
    /** Does it, and gives back what `--json` printed, which has the form that the help promises. */
    async json<Answer>(line: string, options?: { stdin?: string }): Promise<Answer> {
      const { code, stdout, stderr } = await run(`${line} --json`, options);
      assert.equal(code, 0, `${line}: ${stdout}${stderr}`);
      const answer = JSON.parse(stdout) as Answer;
      assertSameForm(answer, shown(commandOf(line))?.json, line);
      return answer;
    },
    /** Does it, and gives back the text. */
    async text(line: string): Promise<string> {
      const { code, stdout, stderr } = await run(line);
      assert.equal(code, 0, `${line}: ${stdout}${stderr}`);
      return stdout;
    },
    /** Several refusals at once, since most of a command's time goes by in starting it. */
    async allRefused(refusals: [line: string, code: 1 | 2, sentence: RegExp][]): Promise<void> {
      await Promise.all(refusals.map((refusal) => this.refused(...refusal)));
    },
    /** One sentence on standard error, nothing on standard output. */
    async refused(line: string, code: 1 | 2, sentence: RegExp, options?: { stdin?: string }): Promise<void> {
      const outcome = await run(line, options);
      assert.equal(outcome.code, code, `${line}: ${outcome.stdout}${outcome.stderr}`);
      assert.equal(outcome.stdout, '', line);
      assert.match(outcome.stderr, sentence, line);
      assert.equal(outcome.stderr.trimEnd().split('\n').length, 1, outcome.stderr);
    },
  };
}

/** Every command that does something, with its path: `client create`. */
export function leaves(
  command: Command = program,
  path: string[] = [],
): { path: string; command: Command }[] {
  if (command.commands.length === 0) return [{ path: path.join(' '), command }];
  return command.commands.flatMap((child) => leaves(child, [...path, child.name()]));
}

function commandOf(line: string): Command {
  const found = leaves().find(({ path }) => line === path || line.startsWith(`${path} `));
  if (!found) throw new Error(`no command in ${line}`);
  return found.command;
}

/** The same names in the same places. Null stands for anything, and an empty list for any list. */
function assertSameForm(actual: unknown, promised: unknown, where: string): void {
  if (actual === null || promised === null) return;
  assert.equal(typeof actual, typeof promised, where);
  if (Array.isArray(actual) && Array.isArray(promised)) {
    for (const one of actual) if (promised.length > 0) assertSameForm(one, promised[0], `${where}[]`);
  } else if (typeof actual === 'object' && typeof promised === 'object') {
    if (isFree(where)) return;
    assert.deepEqual(Object.keys(actual).sort(), Object.keys(promised).sort(), where);
    for (const [name, value] of Object.entries(actual)) {
      assertSameForm(value, (promised as Record<string, unknown>)[name], `${where}.${name}`);
    }
  }
}

/** What these hold is up to whoever wrote them. */
function isFree(where: string): boolean {
  return /\.(details|payload|metadata)$/.test(where);
}

/** The newest audit rows of an area about something, newest first: `actor action`. */
export async function auditOf(
  db: Database,
  area: 'identity' | 'checkout',
  object: string,
): Promise<string[]> {
  const rows =
    area === 'identity'
      ? await db.many<{ entry: string }>(sql`
          select actor || ' ' || action as entry from identity.audit
          where ${object} in (user_id::text, details->>'clientId') order by audit_id desc`)
      : await db.many<{ entry: string }>(sql`
          select actor || ' ' || action as entry from checkout.audit
          where ${object} in (object, merchant_id) order by audit_id desc`);
  return rows.map((row) => row.entry);
}
