import type { Command } from 'commander';
import {
  changeMerchant,
  createMerchant,
  merchantNotFound,
  switchMerchant,
} from '../checkout/change-merchant.ts';
import { formatMoney } from '../checkout/domain/money.ts';
import { listBalances } from '../checkout/store/ledger.ts';
import { listMerchants, type MerchantRow, type MerchantTerms } from '../checkout/store/merchant-terms.ts';
import { findMerchant, type Merchant } from '../checkout/store/merchants.ts';
import { OperatorRefusal } from '../platform/operator-refusal.ts';
import { minorUnits, repeated, visibleText, wholeNumber } from './arguments.ts';
import { type Answer, addChanging, addReading, onDatabase } from './command.ts';
import type { CommandDeps } from './deps.ts';
import { setThemeCommand } from './merchant-theme.ts';
import { namingOptions } from './name-options.ts';
import { record, table } from './text.ts';

/** By these names the faults of a merchant are told. */
const optionOf = {
  merchantId: '<merchant>',
  name: '--name',
  returnUrlOrigins: '--return-origin',
  feeBasisPoints: '--fee-basis-points',
  feeFixed: '--fee-fixed',
  balanceFloor: '--floor',
  requestsPerSecond: '--requests-per-second',
};

const example = {
  merchantId: 'SHOP1',
  name: 'Shop',
  status: 'enabled',
  returnUrlOrigins: ['https://shop.example'],
  feeBasisPoints: 150,
  feeFixed: '10',
  balanceFloor: '0',
  requestsPerSecond: 100,
  disabledAt: null,
};
const exampleWithTerminals = { ...example, terminals: [{ terminalId: 'TRM1', currencies: ['AZN'] }] };
const changed = { merchant: exampleWithTerminals, changed: ['feeBasisPoints'] };

export function merchantCommands(program: Command): void {
  const merchant = program.command('merchant').description('who is paid, and on what terms');
  addChanging(merchant, 'create <merchant>', {
    about: 'register a merchant',
    examples: [
      'tollgate merchant create SHOP1 --name Shop --return-origin https://shop.example --fee-basis-points 150',
    ],
    json: { merchant: exampleWithTerminals },
    more: 'It needs a terminal (tollgate terminal add) and a program (tollgate client create --merchant) before it can be paid.',
  })
    .requiredOption('--name <text>', 'what customers see when they pay', visibleText(100))
    .requiredOption('--return-origin <origin>', 'where customers may come back to; may be repeated', repeated)
    .option(
      '--fee-basis-points <number>',
      'our part of each payment, in hundredths of a percent (default: 0)',
      wholeNumber(0, 10_000),
    )
    .option(
      '--fee-fixed <minor>',
      'our fixed part of each payment, in minor units (default: 0)',
      minorUnits({ negative: false }),
    )
    .option(
      '--floor <minor>',
      'how low refunds may take the balance, in minor units (default: 0)',
      minorUnits({ negative: true }),
    )
    .option(
      '--requests-per-second <number>',
      'how often its programs may call (default: 100)',
      wholeNumber(1, 1_000_000),
    )
    .action(onDatabase(create));
  addReading(merchant, 'list', {
    about: 'list the merchants',
    examples: ['tollgate merchant list'],
    json: { merchants: [example] },
  }).action(onDatabase(list));
  addReading(merchant, 'show <merchant>', {
    about: 'show a merchant, its terms and the terminals in use',
    examples: ['tollgate merchant show SHOP1'],
    json: { merchant: exampleWithTerminals },
  }).action(onDatabase(show));
  addReading(merchant, 'balance <merchant>', {
    about: 'show what a merchant has, by currency',
    examples: ['tollgate merchant balance SHOP1'],
    json: { merchantId: 'SHOP1', balances: [{ currency: 'AZN', available: '98.50', onHold: '0.00' }] },
    more: 'What is on hold is on its way back to customers.',
  }).action(onDatabase(balance));
  addChanging(merchant, 'update <merchant>', {
    about: 'change the name, the addresses to come back to, or the request rate',
    examples: [
      'tollgate merchant update SHOP1 --return-origin https://shop.example --return-origin https://m.shop.example',
    ],
    json: changed,
    more: 'The origins are replaced by all that are given. Servers see a change within a second.',
  })
    .option('--name <text>', 'what customers see when they pay', visibleText(100))
    .option('--return-origin <origin>', 'where customers may come back to; may be repeated', repeated)
    .option('--requests-per-second <number>', 'how often its programs may call', wholeNumber(1, 1_000_000))
    .action(onDatabase(update));
  addChanging(merchant, 'set-fee <merchant>', {
    about: 'set our fee, for payments that are captured from now on',
    examples: ['tollgate merchant set-fee SHOP1 --fee-basis-points 150 --fee-fixed 10'],
    json: changed,
    more: 'The fixed part counts for each currency, in its minor units.',
  })
    .option(
      '--fee-basis-points <number>',
      'our part of each payment, in hundredths of a percent',
      wholeNumber(0, 10_000),
    )
    .option(
      '--fee-fixed <minor>',
      'our fixed part of each payment, in minor units',
      minorUnits({ negative: false }),
    )
    .action(onDatabase(setFee));
  addChanging(merchant, 'set-floor <merchant>', {
    about: 'set how low refunds may take the balance',
    examples: ['tollgate merchant set-floor SHOP1 --floor -50000'],
    json: { merchant: exampleWithTerminals, changed: ['balanceFloor'] },
    more: 'The floor counts for each currency, in its minor units. One above the present balance is refused.',
  })
    .requiredOption('--floor <minor>', 'minor units, negative to lend', minorUnits({ negative: true }))
    .action(onDatabase(setFloor));
  setThemeCommand(merchant);
  for (const [verb, enabled, about] of [
    ['disable', false, 'shut all programs of a merchant out of the payment API, within a second'],
    ['enable', true, 'let the programs of a merchant in again'],
  ] as const) {
    addChanging(merchant, `${verb} <merchant>`, {
      about,
      examples: [`tollgate merchant ${verb} SHOP1`],
      json: { merchantId: 'SHOP1', status: `${verb}d`, changed: true },
    }).action(
      onDatabase((deps, _options: object, merchantId: string) => switchTo(deps, merchantId, enabled)),
    );
  }
}

type NewOptions = {
  name: string;
  returnOrigin: string[];
  feeBasisPoints?: number;
  feeFixed?: bigint;
  floor?: bigint;
  requestsPerSecond?: number;
};

async function create(deps: CommandDeps, options: NewOptions, merchantId: string): Promise<Answer> {
  await namingOptions(optionOf, () =>
    createMerchant(deps, {
      merchantId,
      actor: deps.actor,
      name: options.name,
      returnUrlOrigins: options.returnOrigin,
      feeBasisPoints: options.feeBasisPoints ?? 0,
      feeFixed: options.feeFixed ?? 0n,
      balanceFloor: options.floor ?? 0n,
      requestsPerSecond: options.requestsPerSecond ?? 100,
    }),
  );
  return show(deps, {}, merchantId);
}

async function list(deps: CommandDeps): Promise<Answer> {
  const merchants = await listMerchants(deps.db);
  return {
    json: { merchants: merchants.map(termsJson) },
    text: table(
      ['MERCHANT', 'NAME', 'STATUS', 'FEE', 'FLOOR', 'RETURN ORIGINS'],
      merchants.map((merchant) => [
        merchant.merchantId,
        merchant.name,
        statusOf(merchant),
        feeText(merchant),
        String(merchant.balanceFloor),
        merchant.returnUrlOrigins,
      ]),
    ),
  };
}

async function show(deps: CommandDeps, _options: object, merchantId: string): Promise<Answer> {
  const merchant = await known(deps, merchantId);
  return { json: { merchant: merchantJson(merchant) }, text: merchantText(merchant) };
}

async function balance(deps: CommandDeps, _options: object, merchantId: string): Promise<Answer> {
  await known(deps, merchantId);
  const balances = (await listBalances(deps.db, merchantId)).map(({ currency, available, onHold }) => ({
    currency,
    available: formatMoney({ minor: available, currency }),
    onHold: formatMoney({ minor: onHold, currency }),
  }));
  return {
    json: { merchantId, balances },
    text: table(
      ['CURRENCY', 'AVAILABLE', 'ON HOLD'],
      balances.map(({ currency, available, onHold }) => [currency, available, onHold]),
    ),
  };
}

type UpdateOptions = { name?: string; returnOrigin?: string[]; requestsPerSecond?: number };

function update(deps: CommandDeps, options: UpdateOptions, merchantId: string): Promise<Answer> {
  const { name, returnOrigin, requestsPerSecond } = options;
  return change(deps, merchantId, { name, returnUrlOrigins: returnOrigin, requestsPerSecond });
}

type FeeOptions = { feeBasisPoints?: number; feeFixed?: bigint };

function setFee(deps: CommandDeps, options: FeeOptions, merchantId: string): Promise<Answer> {
  return change(deps, merchantId, { feeBasisPoints: options.feeBasisPoints, feeFixed: options.feeFixed });
}

function setFloor(deps: CommandDeps, { floor }: { floor: bigint }, merchantId: string): Promise<Answer> {
  return change(deps, merchantId, { balanceFloor: floor });
}

async function change(
  deps: CommandDeps,
  merchantId: string,
  given: { [Field in keyof MerchantTerms]?: MerchantTerms[Field] | undefined },
): Promise<Answer> {
  const changes = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
  if (Object.keys(changes).length === 0)
    throw new OperatorRefusal('given', 'Nothing to change was given; see --help.');
  const fields = await namingOptions(optionOf, () =>
    changeMerchant(deps, { merchantId, actor: deps.actor, changes }),
  );
  const merchant = await known(deps, merchantId);
  return { json: { merchant: merchantJson(merchant), changed: fields }, text: merchantText(merchant) };
}

async function switchTo(deps: CommandDeps, merchantId: string, enabled: boolean): Promise<Answer> {
  const changed = await switchMerchant(deps, { merchantId, actor: deps.actor, enabled });
  const status = enabled ? 'enabled' : 'disabled';
  return {
    json: { merchantId, status, changed },
    text: `The merchant ${merchantId} ${changed ? 'is' : 'was already'} ${status}.`,
  };
}

async function known(deps: CommandDeps, merchantId: string): Promise<Merchant> {
  const merchant = await findMerchant(deps.db, merchantId);
  if (!merchant) throw merchantNotFound(merchantId);
  return merchant;
}

function statusOf(merchant: MerchantRow): 'enabled' | 'disabled' {
  return merchant.disabledAt ? 'disabled' : 'enabled';
}

function feeText({ feeBasisPoints, feeFixed }: MerchantRow): string {
  return `${feeBasisPoints / 100}%${feeFixed > 0n ? ` + ${feeFixed}` : ''}`;
}

function termsJson(merchant: MerchantRow) {
  return {
    merchantId: merchant.merchantId,
    name: merchant.name,
    status: statusOf(merchant),
    returnUrlOrigins: merchant.returnUrlOrigins,
    feeBasisPoints: merchant.feeBasisPoints,
    feeFixed: String(merchant.feeFixed),
    balanceFloor: String(merchant.balanceFloor),
    requestsPerSecond: merchant.requestsPerSecond,
    disabledAt: merchant.disabledAt?.toISOString() ?? null,
  };
}

function merchantJson(merchant: Merchant) {
  return { ...termsJson(merchant), terminals: merchant.terminals };
}

function merchantText(merchant: Merchant): string {
  return record({
    merchant: merchant.merchantId,
    name: merchant.name,
    status: statusOf(merchant),
    'return origins': merchant.returnUrlOrigins,
    fee: feeText(merchant),
    floor: String(merchant.balanceFloor),
    'requests a second': merchant.requestsPerSecond,
    terminals: merchant.terminals.map(
      ({ terminalId, currencies }) => `${terminalId} (${currencies.join(', ')})`,
    ),
    'disabled at': merchant.disabledAt,
  });
}
