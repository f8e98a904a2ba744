import { type Command, InvalidArgumentError } from 'commander';
import type { CommandDeps } from './deps.ts';
import { type ExitCode, exitCodes, progressDone, say } from './exit.ts';
import { shortJson } from './text.ts';

/** What the help and the documentation show of a command, besides its arguments and options. */
export type Shown = {
  about: string;
  /** Whole command lines; the first one comes first in the documentation. */
  examples: string[];
  /** What `--json` prints, by example. */
  json: object;
  /** Said below the options, where one sentence does not do. */
  more?: string;
};

/** What a command has to say: both forms of the same. */
export type Answer = { json: object; text: string; exitCode?: ExitCode };

const shownOf = new WeakMap<Command, Shown>();
const changing = new WeakSet<Command>();

export function shown(command: Command): Shown | undefined {
  return shownOf.get(command);
}

/** A command that only looks. */
export function addReading(group: Command, usage: string, given: Shown): Command {
  const command = group.command(usage).description(given.about);
  shownOf.set(command, given);
  command.addHelpText('after', () => helpTail(given));
  return command.option('--json', 'print JSON instead of text');
}

/** A command that changes something, for which somebody has to answer. */
export function addChanging(group: Command, usage: string, given: Shown): Command {
  const command = addReading(group, usage, given);
  changing.add(command);
  return command.option(
    '--actor <name>',
    'who does this, as the audit shall name them (default: cli:USER@HOST)',
    actorName,
  );
}

type Common = { json?: true; actor?: string };

/** The action of a command that needs the database. Commander gives the arguments, the options, the command. */
export function onDatabase<Options extends object, Args extends unknown[]>(
  work: (deps: CommandDeps, options: Options, ...args: Args) => Promise<Answer | undefined>,
): (...given: unknown[]) => Promise<void> {
  return async (...given) => {
    const isChanging = changing.has(given.at(-1) as Command);
    await answering<Options & Common, Args>(async (options, ...args) => {
      // Not before it is sure that the command will run: help and wrong arguments are answered without it.
      const { refuseOtherSecret, withDeps } = await import('./deps.ts');
      return withDeps(options.actor, async (deps) => {
        if (isChanging) {
          announce(deps);
          await refuseOtherSecret(deps);
        }
        return work(deps, options, ...args);
      });
    })(...given);
  };
}

/** Somebody at a terminal may have forgotten a setting; in a pipe or a log standard error is for what went wrong. */
function announce({ config, where }: CommandDeps): void {
  if (process.stderr.isTTY) say(`${config.server.env}, database ${where}`);
}

/** The action of any command: prints what it has to say in the form that was asked for, unless it has done so. */
export function answering<Options extends object, Args extends unknown[]>(
  work: (options: Options, ...args: Args) => Promise<Answer | undefined>,
): (...given: unknown[]) => Promise<void> {
  return async (...given) => {
    const options = given.at(-2) as Options & Common;
    const answer = await work(options, ...(given.slice(0, -2) as Args)).finally(progressDone);
    if (!answer) return;
    print(options.json ? JSON.stringify(answer.json, null, 2) : answer.text);
    process.exitCode = answer.exitCode ?? exitCodes.well;
  };
}

export function print(text: string): void {
  if (text !== '') process.stdout.write(`${text}\n`);
}

function helpTail({ examples, json, more }: Shown): string {
  return `${more ? `\n${more}\n` : ''}
${examples.length > 1 ? 'Examples' : 'Example'}:
  ${examples.join('\n  ')}

With --json:
  ${shortJson(json, '  ')}`;
}

function actorName(text: string): string {
  if (!/^[^\p{C}]{1,100}$/u.test(text))
    throw new InvalidArgumentError('It takes 1 to 100 visible characters.');
  return text;
}
