export type Money = { minor: bigint; currency: string };

/** Twelve digits of minor units, as ISO 8583 has room for. */
const largest = 999_999_999_999n;

/**
 * The decimal digits of each currency by ISO 4217. `Intl` disagrees with it about 29 of them, so the table is ours.
 * Currencies that are not money people pay with (metals, test codes) are left out.
 */
const digitsOf: Record<string, number> = Object.fromEntries([
  ...names(0, 'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF'),
  ...names(3, 'BHD IQD JOD KWD LYD OMR TND'),
  ...names(4, 'CLF UYW'),
  ...names(
    2,
    'AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BGN BMD BND BOB BOV BRL BSD BTN BWP BYN BZD CAD CDF CHE CHF CHW CNY ' +
      'COP COU CRC CUP CVE CZK DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GTQ GYD HKD HNL HTG HUF IDR ILS INR ' +
      'IRR JMD KES KGS KHR KPW KYD KZT LAK LBP LKR LRD LSL MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MXV MYR MZN NAD ' +
      'NGN NIO NOK NPR NZD PAB PEN PGK PHP PKR PLN QAR RON RSD RUB SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP ' +
      'SZL THB TJS TMT TOP TRY TTD TWD TZS UAH USD USN UYU UZS VED VES WST XCD YER ZAR ZMW ZWG',
  ),
]);

function names(digits: number, list: string): [string, number][] {
  return list.split(' ').map((name) => [name, digits]);
}

/** `undefined` when the text is not an amount of this currency: exactly its digits, above zero, at most twelve. */
export function parseMoney(value: string, currency: string): Money | undefined {
  const digits = digitsOf[currency];
  if (digits === undefined) return undefined;
  const form = digits === 0 ? /^(0|[1-9]\d{0,11})$/ : new RegExp(`^(0|[1-9]\\d{0,11})\\.\\d{${digits}}$`);
  if (!form.test(value)) return undefined;
  const minor = BigInt(value.replace('.', ''));
  return minor > 0n && minor <= largest ? { minor, currency } : undefined;
}

/** The decimal text of an amount: `100.00`. */
export function formatMoney({ minor, currency }: Money): string {
  const digits = digitsOf[currency];
  if (digits === undefined) throw new Error(`${currency} is not a currency of ours`);
  const text = (minor < 0n ? -minor : minor).toString().padStart(digits + 1, '0');
  const whole = text.slice(0, text.length - digits);
  const sign = minor < 0n ? '-' : '';
  return digits === 0 ? `${sign}${whole}` : `${sign}${whole}.${text.slice(-digits)}`;
}

export function currencyDigits(currency: string): number | undefined {
  return digitsOf[currency];
}

/** Basis points plus a fixed part, rounded half up, never above the amount. */
export function feeOf(amount: bigint, fee: { basisPoints: number; fixed: bigint }): bigint {
  const part = (amount * BigInt(fee.basisPoints) + 5_000n) / 10_000n;
  const whole = part + fee.fixed;
  return whole > amount ? amount : whole;
}
