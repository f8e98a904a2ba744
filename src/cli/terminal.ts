import type { Command } from 'commander';
import { addTerminal, merchantNotFound, switchTerminal } from '../checkout/change-merchant.ts';
import { findMerchant } from '../checkout/store/merchants.ts';
import { listTerminals } from '../checkout/store/terminals.ts';
import { words } from './arguments.ts';
import { type Answer, addChanging, addReading, onDatabase } from './command.ts';
import type { CommandDeps } from './deps.ts';
import { namingOptions } from './name-options.ts';
import { table } from './text.ts';

const optionOf = { terminalId: '<terminal>', currencies: '--currency' };

export function terminalCommands(program: Command): void {
  const terminal = program.command('terminal').description('where a merchant’s payments are made');
  addChanging(terminal, 'add <merchant> <terminal>', {
    about: 'give a merchant a terminal',
    examples: ['tollgate terminal add SHOP1 TRM1 --currency AZN --currency USD'],
    json: { merchantId: 'SHOP1', terminalId: 'TRM1', currencies: ['AZN', 'USD'] },
  })
    .requiredOption('--currency <code>', 'what it takes, by ISO 4217; may be repeated', words)
    .action(onDatabase(add));
  addReading(terminal, 'list [merchant]', {
    about: 'list the terminals of a merchant, or of all',
    examples: ['tollgate terminal list SHOP1'],
    json: {
      terminals: [
        { merchantId: 'SHOP1', terminalId: 'TRM1', currencies: ['AZN'], status: 'enabled', disabledAt: null },
      ],
    },
  }).action(onDatabase(list));
  for (const [verb, enabled, about] of [
    ['disable', false, 'let a terminal take no new payments'],
    ['enable', true, 'let a terminal take payments again'],
  ] as const) {
    addChanging(terminal, `${verb} <merchant> <terminal>`, {
      about,
      examples: [`tollgate terminal ${verb} SHOP1 TRM1`],
      json: { merchantId: 'SHOP1', terminalId: 'TRM1', status: `${verb}d`, changed: true },
    }).action(
      onDatabase((deps, _options: object, merchantId: string, terminalId: string) =>
        switchTo(deps, { merchantId, terminalId, enabled }),
      ),
    );
  }
}

async function add(
  deps: CommandDeps,
  { currency }: { currency: string[] },
  merchantId: string,
  terminalId: string,
): Promise<Answer> {
  const terminal = { merchantId, terminalId, currencies: currency };
  await namingOptions(optionOf, () => addTerminal(deps, { ...terminal, actor: deps.actor }));
  return { json: terminal, text: `The merchant ${merchantId} has the terminal ${terminalId}.` };
}

async function list(deps: CommandDeps, _options: object, merchantId: string | undefined): Promise<Answer> {
  if (merchantId !== undefined && !(await findMerchant(deps.db, merchantId)))
    throw merchantNotFound(merchantId);
  const terminals = (await listTerminals(deps.db, merchantId ?? null)).map((terminal) => ({
    merchantId: terminal.merchantId,
    terminalId: terminal.terminalId,
    currencies: terminal.currencies,
    status: terminal.disabledAt ? 'disabled' : 'enabled',
    disabledAt: terminal.disabledAt?.toISOString() ?? null,
  }));
  return {
    json: { terminals },
    text: table(
      ['MERCHANT', 'TERMINAL', 'STATUS', 'CURRENCIES'],
      terminals.map((terminal) => [
        terminal.merchantId,
        terminal.terminalId,
        terminal.status,
        terminal.currencies,
      ]),
    ),
  };
}

async function switchTo(
  deps: CommandDeps,
  { merchantId, terminalId, enabled }: { merchantId: string; terminalId: string; enabled: boolean },
): Promise<Answer> {
  const changed = await switchTerminal(deps, { merchantId, terminalId, actor: deps.actor, enabled });
  const status = enabled ? 'enabled' : 'disabled';
  return {
    json: { merchantId, terminalId, status, changed },
    text: `The terminal ${terminalId} of ${merchantId} ${changed ? 'is' : 'was already'} ${status}.`,
  };
}
