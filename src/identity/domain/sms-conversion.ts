import { codeLimits } from './one-time-code.ts';

const slotMs = 5 * 60_000;
const lookBackMs = 60 * 60_000;

/** Codes sent within five minutes, and how many of those very codes were proven later. */
export type ConversionSlot = { slot: Date; sent: number; verified: number };
export type ConversionRule = { minSent: number; minPercent: number };

export function slotOf(at: Date): Date {
  return new Date(Math.floor(at.getTime() / slotMs) * slotMs);
}

/** Slots after this one still matter to a decision made now. */
export function slotsSince(now: Date): Date {
  return new Date(now.getTime() - lookBackMs);
}

/**
 * Fraudsters who earn from SMS never type the codes. When hardly any code of the last hour was proven, the prefix is
 * paused, and this tells until when: the moment at which, with nothing more sent, the numbers stop being suspicious.
 */
export function pausedUntil(
  slots: readonly ConversionSlot[],
  rule: ConversionRule,
  now: Date,
): Date | undefined {
  if (!isSuspicious(slots, rule, now)) return undefined;
  let at = now;
  // The answer changes only where a slot begins, and after the whole look-back there is nothing left to be suspicious of.
  while (isSuspicious(slots, rule, at)) at = new Date(slotOf(at).getTime() + slotMs);
  return at;
}

function isSuspicious(slots: readonly ConversionSlot[], rule: ConversionRule, now: Date): boolean {
  // A code that is still alive may yet be proven, so a slot counts only when its last code has expired.
  const newest = now.getTime() - codeLimits.lifetimeMs - slotMs;
  let sent = 0;
  let verified = 0;
  for (const each of slots) {
    if (each.slot <= slotsSince(now) || each.slot.getTime() > newest) continue;
    sent += each.sent;
    verified += each.verified;
  }
  return sent >= rule.minSent && verified * 100 < rule.minPercent * sent;
}
