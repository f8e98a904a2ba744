import { Command } from 'commander';
import { version } from '../package.ts';

/** Adds the commands of one group to the program. */
type AddGroup = (program: Command) => void;

/** Each group is loaded when it is needed: a command begins in a third of the time that all of them together take. */
const groups: Record<string, () => Promise<AddGroup>> = {
  client: async () => (await import('./client.ts')).clientCommands,
  user: async () => (await import('./user.ts')).userCommands,
  merchant: async () => (await import('./merchant.ts')).merchantCommands,
  terminal: async () => (await import('./terminal.ts')).terminalCommands,
  payment: async () => (await import('./payment.ts')).paymentCommands,
  wallet: async () => (await import('./wallet.ts')).walletCommands,
  webhook: async () => (await import('./webhook.ts')).webhookCommands,
  keys: async () => (await import('./keys.ts')).keysCommands,
  audit: async () => (await import('./audit.ts')).auditCommands,
  'verify-ledger': async () => (await import('./verify-ledger.ts')).verifyLedgerCommand,
  doctor: async () => (await import('./doctor.ts')).doctorCommand,
  demo: async () => (await import('./demo.ts')).demoCommands,
};

/** The whole command line, or, when the group is known, the part of it that is going to be used. */
export async function buildProgram(group?: string): Promise<Command> {
  const program = new Command('tollgate')
    .description('Looks after a Tollgate: the same settings as the server, the same database.')
    .version(version)
    .exitOverride()
    .configureOutput({ outputError: (text, write) => write(oneSentence(text)) })
    .addHelpText(
      'after',
      `
It reads the server's environment variables (DATABASE_URL, KEYS_SECRET, TOLLGATE_ENV …). Without any it takes the
environment local and the database in ./.data. At a terminal each command that changes something says first where.

Each command says more of itself: tollgate client create --help`,
    );
  const wanted = group !== undefined && Object.hasOwn(groups, group) ? [group] : Object.keys(groups);
  for (const name of wanted) {
    const add = await groups[name]?.();
    add?.(program);
  }
  return program;
}

/** Commander gives a suggestion a line of its own. */
function oneSentence(text: string): string {
  return `${text
    .replace(/^error: /, '')
    .trim()
    .replaceAll('\n', ' ')}\n`;
}
