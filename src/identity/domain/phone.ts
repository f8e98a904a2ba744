import { parsePhoneNumberFromString } from 'libphonenumber-js/min';
import { withWesternDigits } from './digits.ts';

/** The longest way to write a number that anybody uses, with room to spare; the parser never sees more. */
const longestInput = 40;
/** The parser would also read letters and extensions, as in `0501234567 ext 12`; no SMS reaches an extension. */
const written = /^\+?[0-9\s./-]+$/;
const e164 = /^\+[1-9][0-9]{6,14}$/;

/**
 * One person, one spelling: whatever way a number is written, the answer is the same E.164 text. The length has to
 * fit the country; whether the range is in use is left to the operators, who open new ones before any table knows.
 */
export function parsePhone(input: string, defaultCountry: 'AZ'): string | undefined {
  if (input.length > longestInput) return undefined;
  // Numbers copied from an address book often carry invisible marks of writing direction.
  const text = withWesternDigits(input)
    .replace(/\p{Cf}/gu, '')
    .replace(/\p{Pd}/gu, '-')
    .replace(/[()]/g, ' ')
    .replace('\uff0b', '+')
    .trim();
  if (!written.test(text)) return undefined;
  const parsed = parsePhoneNumberFromString(text, { defaultCountry, extract: false });
  return parsed?.isPossible() && e164.test(parsed.number) ? parsed.number : undefined;
}

/** The longest of the allowed prefixes that the number begins with. */
export function countryPrefixOf(phone: string, allowed: readonly string[]): string | undefined {
  return allowed
    .filter((prefix) => phone.startsWith(prefix))
    .reduce<string | undefined>(
      (best, prefix) => (best && best.length >= prefix.length ? best : prefix),
      undefined,
    );
}
