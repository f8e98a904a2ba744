import { currencyDigits, formatMoney } from './money.ts';

export type MerchantFault = { field: string; detail: string };

export type MerchantSettings = {
  name: string;
  returnUrlOrigins: string[];
  feeBasisPoints: number;
  feeFixed: bigint;
  balanceFloor: bigint;
  requestsPerSecond: number;
};

/** As far as a balance can go either way: twelve digits of minor units. */
const largest = 999_999_999_999n;

/** What keeps a merchant from being stored as it is. */
export function merchantFaults(merchant: MerchantSettings & { merchantId: string }): MerchantFault[] {
  const faults: MerchantFault[] = [];
  const refuse = (field: string, detail: string) => faults.push({ field, detail });
  if (!/^[A-Za-z0-9_-]{1,15}$/.test(merchant.merchantId))
    refuse('merchantId', 'It takes 1 to 15 letters, digits, hyphens and underscores.');
  if (merchant.name.trim() === '' || merchant.name.length > 100)
    refuse('name', 'It takes 1 to 100 characters; customers see it when they pay.');
  if (merchant.returnUrlOrigins.length === 0)
    refuse('returnUrlOrigins', 'Customers have to come back somewhere: give at least one.');
  for (const origin of merchant.returnUrlOrigins) {
    const fault = originFault(origin);
    if (fault) refuse('returnUrlOrigins', `${JSON.stringify(origin)} ${fault}`);
  }
  if (!(merchant.feeBasisPoints >= 0 && merchant.feeBasisPoints <= 10_000))
    refuse('feeBasisPoints', 'It takes 0 to 10000 basis points.');
  if (merchant.feeFixed < 0n || merchant.feeFixed > largest)
    refuse('feeFixed', 'It takes 0 or more minor units.');
  if (merchant.balanceFloor > largest || merchant.balanceFloor < -largest)
    refuse('balanceFloor', 'It takes twelve digits at most.');
  if (!(merchant.requestsPerSecond >= 1 && merchant.requestsPerSecond <= 1_000_000))
    refuse('requestsPerSecond', 'It takes 1 to 1000000.');
  return faults;
}

function originFault(origin: string): string | undefined {
  if (!URL.canParse(origin)) return 'is not an origin, such as https://shop.example.com.';
  const url = new URL(origin);
  const isLoopback = /^(localhost|.*\.localhost|127\.[\d.]+|\[::1\])$/.test(url.hostname);
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isLoopback))
    return 'must be https: http is for loopback only.';
  return url.origin === origin ? undefined : `must be an origin alone: ${url.origin}.`;
}

export function terminalFaults(terminal: { terminalId: string; currencies: string[] }): MerchantFault[] {
  const faults: MerchantFault[] = [];
  if (!/^[A-Za-z0-9]{1,8}$/.test(terminal.terminalId))
    faults.push({ field: 'terminalId', detail: 'It takes 1 to 8 letters and digits.' });
  if (terminal.currencies.length === 0)
    faults.push({ field: 'currencies', detail: 'Give at least one currency.' });
  for (const currency of terminal.currencies) {
    if (currencyDigits(currency) === undefined)
      faults.push({
        field: 'currencies',
        detail: `${JSON.stringify(currency)} is not a currency by ISO 4217.`,
      });
  }
  return faults;
}

/** The first balance that a new floor would leave under water, as text: nothing could mend it but money. */
export function balanceBelow(
  floor: bigint,
  balances: { currency: string; available: bigint }[],
): string | undefined {
  const below = balances.find(({ available }) => available < floor);
  return below && `${formatMoney({ minor: below.available, currency: below.currency })} ${below.currency}`;
}
