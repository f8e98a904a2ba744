import { InvalidArgumentError } from 'commander';

/** Parsers of arguments and options: the sentence says what would be right. */

export function wholeNumber(min: number, max: number) {
  return (text: string): number => {
    const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
    if (value >= min && value <= max) return value;
    throw new InvalidArgumentError(`It takes a whole number from ${min} to ${max}.`);
  };
}

/** Minor units; negative where the option says so. */
export function minorUnits(options: { negative: boolean }) {
  return (text: string): bigint => {
    if ((options.negative ? /^-?\d{1,12}$/ : /^\d{1,12}$/).test(text)) return BigInt(text);
    throw new InvalidArgumentError(
      `It takes a whole number of minor units, such as ${options.negative ? '-50000' : '25'}.`,
    );
  };
}

/** An option that may be given several times. */
export function repeated(text: string, before: string[] | undefined): string[] {
  return [...(before ?? []), text];
}

/** The same for words, of which one may hold several: `--scope "openid profile"`. */
export function words(text: string, before: string[] | undefined): string[] {
  return [...new Set([...(before ?? []), ...text.split(/[\s,]+/).filter((word) => word !== '')])];
}

const unitMs: Record<string, number> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** `0`, `90s`, `30m`, `24h`, `7d`. */
export function duration(text: string): number {
  if (text === '0') return 0;
  const [, amount, unit = ''] = /^(\d{1,4})([smhd])$/.exec(text) ?? [];
  if (amount === undefined)
    throw new InvalidArgumentError('It takes a duration such as 30m, 24h or 7d, or 0.');
  return Number(amount) * (unitMs[unit] ?? 0);
}

export function instant(text: string): Date {
  const isIso = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?(Z|[+-]\d{2}:\d{2}))?$/.test(text);
  const at = new Date(text);
  if (isIso && !Number.isNaN(at.getTime())) return at;
  throw new InvalidArgumentError('It takes a day or an instant, such as 2026-11-15 or 2026-11-15T12:00:00Z.');
}

export function uuid(text: string): string {
  if (/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text)) return text.toLowerCase();
  throw new InvalidArgumentError('It takes an identifier such as 0199d1c2-7a52-7c60-b0b5-2c0b7f3f1a11.');
}

export function visibleText(longest: number) {
  return (text: string): string => {
    if (text.trim() !== '' && text.length <= longest && !/\p{Cc}/u.test(text)) return text;
    throw new InvalidArgumentError(`It takes 1 to ${longest} visible characters.`);
  };
}
