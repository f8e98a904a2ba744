import { withWesternDigits } from './digits.ts';

const secondMs = 1_000;
const minuteMs = 60 * secondMs;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

/** Every fixed limit of one-time codes. Those that an operator may set are in `SendLimits`. */
export const codeLimits = {
  digits: 6,
  lifetimeMs: 5 * minuteMs,
  attemptsPerCode: 5,
  resendAfterMs: minuteMs,
  /** Per phone; a device that has logged in with the phone before has the same budgets for itself. */
  sendsPerPhone: [
    { name: 'minute', max: 1, windowMs: minuteMs },
    { name: 'ten minutes', max: 3, windowMs: 10 * minuteMs },
    { name: 'day', max: 8, windowMs: dayMs },
  ],
  /** Per phone, for all devices that know it together: each login could make one device more. */
  sendsByKnownDevices: { max: 24, windowMs: dayMs },
  guesses: {
    free: 10,
    windowMs: hourMs,
    firstDelayMs: minuteMs,
    longestDelayMs: hourMs,
    rememberedMs: dayMs,
  },
} as const;

/** What a test phone's owner types. */
export const testPhoneCode = '111111';

/** `randomBelow` gives each whole number below its argument with equal chance, as `crypto.randomInt` does. */
export function makeCode(randomBelow: (limit: number) => number): string {
  return String(randomBelow(10 ** codeLimits.digits)).padStart(codeLimits.digits, '0');
}

/** Six digits as they were meant: `123 456` and Arabic digits are fine, anything else is no code. */
export function normalizeCode(input: string): string | undefined {
  if (input.length > 40) return undefined;
  const code = withWesternDigits(input).replace(/[\s\p{Cf}]/gu, '');
  return /^[0-9]{6}$/.test(code) ? code : undefined;
}

export type OneTimeCode = {
  codeHash: Buffer;
  createdAt: Date;
  expiresAt: Date;
  attempts: number;
  usedAt: Date | null;
  knownDevice: boolean;
};

export function isLive(code: OneTimeCode, now: Date): boolean {
  return code.usedAt === null && code.attempts < codeLimits.attemptsPerCode && now < code.expiresAt;
}

export function resendAt(sentAt: Date): Date {
  return new Date(sentAt.getTime() + codeLimits.resendAfterMs);
}

/**
 * When the next guess may be made. Ten failures within an hour are free. Each one that finds the hour already full
 * is a strike, and after it the wait doubles. Strikes are remembered for a day, although the failures themselves
 * leave the hour: otherwise patience alone would bring the short waits back.
 */
export function nextGuessAt(failures: readonly Date[], now: Date): Date {
  const { free, windowMs, firstDelayMs, longestDelayMs, rememberedMs } = codeLimits.guesses;
  const instants = failures
    .map((failure) => failure.getTime())
    .filter((at) => at > now.getTime() - rememberedMs)
    .sort((left, right) => left - right);
  const latest = instants.at(-1);
  if (latest === undefined || countWithin(instants, now.getTime(), windowMs) < free) return now;

  const strikes = instants.filter(
    (at, index) => countWithin(instants.slice(0, index + 1), at, windowMs) >= free,
  );
  const delayMs = Math.min(firstDelayMs * 2 ** Math.max(strikes.length - 1, 0), longestDelayMs);
  return new Date(Math.max(latest + delayMs, now.getTime()));
}

function countWithin(instants: readonly number[], now: number, windowMs: number): number {
  return instants.filter((at) => at > now - windowMs).length;
}
