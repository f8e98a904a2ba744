import { type Command, InvalidArgumentError } from 'commander';
import { formatMoney, parseMoney } from '../checkout/domain/money.ts';
import { listWalletBalances } from '../checkout/store/wallets.ts';
import { topUpWallet } from '../checkout/top-up.ts';
import { UserRefused } from '../identity/users.ts';
import { OperatorRefusal } from '../platform/operator-refusal.ts';
import { visibleText } from './arguments.ts';
import { type Answer, addChanging, addReading, onDatabase } from './command.ts';
import type { CommandDeps } from './deps.ts';
import { findPerson, type Person, person, personAbout } from './find-person.ts';
import { table } from './text.ts';

const userId = '0b6f2b1e-8c0a-4f8e-9d6b-5a1c7a1f0001';

export function walletCommands(program: Command): void {
  const wallet = program.command('wallet').description('the money that people keep here');
  addReading(wallet, 'show', {
    about: 'show what a person has, by currency',
    examples: ['tollgate wallet show +994500000001'],
    json: { userId, wallets: [{ currency: 'AZN', balance: '500.00' }] },
  })
    .argument('<user>', personAbout, person)
    .action(onDatabase(show));
  addChanging(wallet, 'top-up', {
    about: 'post money from a funding account into the wallet of a person',
    examples: [
      'tollgate wallet top-up +994500000001 --amount 50.00 --currency AZN --source bank --reference TRANSFER-2026-118',
    ],
    json: {
      userId,
      amount: { value: '50.00', currency: 'AZN' },
      source: 'bank',
      reference: 'TRANSFER-2026-118',
      posted: true,
      at: '2026-11-15T12:00:00.000Z',
      balance: '550.00',
    },
    more: 'The reference, such as the number of the transfer, makes it safe to run the command again: what was posted under it is posted once.',
  })
    .argument('<user>', personAbout, person)
    .requiredOption('--amount <value>', 'with exactly the digits of the currency, such as 50.00')
    .requiredOption('--currency <code>', 'by ISO 4217')
    .requiredOption('--source <name>', 'the funding account that the money comes from', fundingAccount)
    .requiredOption('--reference <text>', 'the one thing this top-up is for', visibleText(100))
    .action(onDatabase(topUp));
}

async function show(deps: CommandDeps, _options: object, named: Person): Promise<Answer> {
  const { user } = await findPerson(deps, named);
  const wallets = (await listWalletBalances(deps.db, user.id)).map(({ currency, balance }) => ({
    currency,
    balance: formatMoney({ minor: balance, currency }),
  }));
  return {
    json: { userId: user.id, wallets },
    text: table(
      ['CURRENCY', 'BALANCE'],
      wallets.map(({ currency, balance }) => [currency, balance]),
    ),
  };
}

type TopUpOptions = { amount: string; currency: string; source: string; reference: string };

async function topUp(deps: CommandDeps, options: TopUpOptions, named: Person): Promise<Answer> {
  const { currency, source, reference } = options;
  const amount = parseMoney(options.amount, currency);
  if (!amount) {
    throw new OperatorRefusal(
      'given',
      `--amount: ${options.amount} is not an amount of ${currency}; write it like 50.00 AZN or 50 JPY, above zero.`,
    );
  }
  const { user } = await findPerson(deps, named);
  if (user.status === 'merged') throw new UserRefused('user_merged');
  const { posted, walletUserId, at } = await topUpWallet(deps.checkout, {
    userId: user.id,
    amount,
    source,
    reference,
    actor: deps.actor,
  });
  const wallets = await listWalletBalances(deps.db, walletUserId);
  const balance = formatMoney({
    minor: wallets.find((one) => one.currency === currency)?.balance ?? 0n,
    currency,
  });
  return {
    json: {
      userId: walletUserId,
      amount: { value: options.amount, currency },
      source,
      reference,
      posted,
      at: at.toISOString(),
      balance,
    },
    text: `${posted ? 'Posted' : 'This was posted before'}; the wallet holds ${balance} ${currency}.`,
  };
}

function fundingAccount(text: string): string {
  if (/^[A-Za-z0-9._-]{1,64}$/.test(text)) return text;
  throw new InvalidArgumentError('It takes 1 to 64 letters, digits, dots, hyphens and underscores.');
}
