const secondMs = 1_000;
const minuteMs = 60 * secondMs;
const hourMs = 60 * minuteMs;

/** How long after each failed attempt the next one follows. Together they span a little more than three days. */
const pausesMs = [
  5 * secondMs,
  5 * minuteMs,
  30 * minuteMs,
  2 * hourMs,
  5 * hourMs,
  10 * hourMs,
  14 * hourMs,
  20 * hourMs,
  24 * hourMs,
];

/** Events that failed together shall not all come back at the same instant. */
const mostJitter = 0.2;
const longestWishMs = 24 * hourMs;
/** Behind an event that took its three days, the next one of the same object shall not take three more. */
const longestLifeMs = 96 * hourMs;
/** An endpoint at which everything has failed for so long is disabled. */
const longestFailureMs = 72 * hourMs;

export type FailedAttempt = {
  attempt: number;
  at: Date;
  queuedAt: Date;
  /** From 0 up to 1. */
  chance: number;
  /** How long the receiver wishes not to be asked. */
  wishMs: number;
};

/**
 * When to try again; undefined when it is time to give up. A wish can only lengthen the pause: a receiver that asks
 * for a shorter one would use up its attempts in a minute.
 */
export function nextAttemptAt({ attempt, at, queuedAt, chance, wishMs }: FailedAttempt): Date | undefined {
  const pauseMs = pausesMs[attempt - 1];
  if (pauseMs === undefined || at.getTime() - queuedAt.getTime() > longestLifeMs) return undefined;
  const withJitterMs = pauseMs * (1 + mostJitter * chance);
  return new Date(at.getTime() + Math.max(withJitterMs, Math.min(wishMs, longestWishMs)));
}

export function hasFailedTooLong(failingSince: Date | null, at: Date): boolean {
  return failingSince !== null && at.getTime() - failingSince.getTime() >= longestFailureMs;
}

/** `Retry-After` counts on 429 and 503 (RFC 9110, section 10.2.3): seconds, or an instant. */
export function wishOf(answer: { status: number; retryAfter: string | undefined }, at: Date): number {
  const { status, retryAfter = '' } = answer;
  if (status !== 429 && status !== 503) return 0;
  if (/^\d{1,9}$/.test(retryAfter)) return Number(retryAfter) * secondMs;
  const instant = Date.parse(retryAfter);
  return Number.isNaN(instant) ? 0 : Math.max(0, instant - at.getTime());
}
