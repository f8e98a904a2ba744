import type { Database, Queryable, Transaction } from '../platform/db.ts';
import type { Logger } from '../platform/log.ts';
import { equalInConstantTime, mac, type PurposeKey } from '../platform/seal.ts';
import { addressBlockOf } from './domain/address-block.ts';
import {
  codeLimits,
  isLive,
  nextGuessAt,
  normalizeCode,
  resendAt,
  testPhoneCode,
} from './domain/one-time-code.ts';
import { countryPrefixOf } from './domain/phone.ts';
import { type ConversionRule, pausedUntil, slotOf, slotsSince } from './domain/sms-conversion.ts';
import type { IdentityMetrics } from './metrics.ts';
import { type Budget, giveBack, lockHits, takeBudgets } from './store/budgets.ts';
import {
  type CodeOwner,
  countGuess,
  findNewestCode,
  insertCode,
  lockNewestCode,
  useCode,
  withdrawCode,
} from './store/one-time-codes.ts';
import { countSent, findConversionSlots, uncountSent } from './store/sms-conversion.ts';

const hourMs = 60 * 60_000;
const dayMs = 24 * hourMs;

/** The limits that an operator may set. */
export type SendLimits = {
  /** Nothing is sent to a number that begins with none of these. */
  countryPrefixes: readonly string[];
  perBlockHourly: number;
  perClientHourly: number;
  perCountryDaily: number;
  daily: number;
  conversion: ConversionRule;
};

export type CodeDeps = {
  db: Database;
  now: () => Date;
  log: Logger;
  send: (phone: string, text: string) => Promise<void>;
  codeKey: PurposeKey;
  testPhones: ReadonlySet<string>;
  limits: SendLimits;
  randomCode: () => string;
  metrics: IdentityMetrics;
  /** Begins empty. The prefixes that this process has seen paused, so that it reports each pause once. */
  pausedPrefixes: Set<string>;
};

/** A device that has logged in with a phone before, as its signed cookie proves. */
export type KnownDevice = { id: string; lastLogin: Date };

export type SendRequest = {
  phone: string;
  browserId: string;
  knownDevice: KnownDevice | undefined;
  /** Where the caller is, as far as the proxies are believed. */
  address: string;
  clientId: string;
  text: (code: string) => string;
};

export type WaitReason = 'phone' | 'block' | 'client' | 'country' | 'daily' | 'conversion';

export type Sent =
  | { outcome: 'sent'; resendAt: Date }
  | { outcome: 'already_sent'; resendAt: Date }
  | { outcome: 'wait'; until: Date; reason: WaitReason }
  | { outcome: 'country_not_allowed' }
  | { outcome: 'send_failed' };

/**
 * Sends a code, or says why not. Whether the number has an account is never asked here, so the answer and its time
 * cannot tell. Each error rises: when the counters cannot be read or written, nothing is sent.
 */
export async function sendCode(deps: CodeDeps, request: SendRequest): Promise<Sent> {
  const now = deps.now();
  const owner = ownerOf(deps, request);
  if (deps.testPhones.has(request.phone)) {
    await insertCode(deps.db, owner, newCode(deps, request, testPhoneCode, now));
    return { outcome: 'sent', resendAt: now };
  }

  const prefix = countryPrefixOf(request.phone, deps.limits.countryPrefixes);
  if (!prefix) {
    deps.metrics.smsRefused.inc({ reason: 'country_not_allowed' });
    return { outcome: 'country_not_allowed' };
  }
  const justSent = await findJustSent(deps.db, owner, now);
  if (justSent) return { outcome: 'already_sent', resendAt: justSent };
  const pauseEnd = request.knownDevice === undefined ? await findPauseEnd(deps, prefix, now) : undefined;
  if (pauseEnd) return refuse(deps, 'conversion', pauseEnd);

  const code = deps.randomCode();
  let counted = false;
  const refused = await deps.db.transaction(async (tx): Promise<Sent | undefined> => {
    const budgets = sendBudgets(deps, request, prefix);
    const taken = await takeBudgets(tx, budgets, now);
    if (taken.ok) {
      await insertCode(tx, owner, newCode(deps, request, code, now));
      counted =
        request.knownDevice === undefined &&
        (await takeBudgets(tx, [conversionBudget(deps, request)], now)).ok;
      if (counted) await countSent(tx, prefix, slotOf(now));
      return undefined;
    }
    // Of two tabs that asked at once, the one that came second waited for the first and now finds its code.
    const meanwhile = await findJustSent(tx, owner, now);
    if (meanwhile) return { outcome: 'already_sent', resendAt: meanwhile };
    const reason = budgets.find((budget) => budget.key === taken.key)?.reason;
    if (!reason) throw new Error(`no budget of this request is called ${taken.key}`);
    return refuse(deps, reason, taken.retryAt);
  });
  if (refused) return refused;

  try {
    await deps.send(request.phone, request.text(code));
  } catch (error) {
    deps.metrics.smsSent.inc({ outcome: 'failed' });
    deps.log.error({ failure: describeFailure(error) }, 'a one-time code could not be sent');
    await deps.db.transaction((tx) =>
      takeBack(tx, deps, request, { prefix: counted ? prefix : undefined, at: now }),
    );
    return { outcome: 'send_failed' };
  }
  deps.metrics.smsSent.inc({ outcome: 'sent' });
  return { outcome: 'sent', resendAt: resendAt(now) };
}

export type ProofAttempt = {
  phone: string;
  browserId: string;
  knownDevice: KnownDevice | undefined;
  /** As it was typed. What is not six digits counts as a wrong guess like any other. */
  code: string;
};

export type Proof<Result> =
  | { outcome: 'proven'; result: Result }
  | { outcome: 'wrong'; attemptsLeft: number }
  | { outcome: 'expired' }
  /** By this very browser, a moment ago: a form that was sent twice. */
  | { outcome: 'just_used' }
  | { outcome: 'wait'; until: Date };

/**
 * Checks a code. The guess is counted, and the count committed, before it is compared: guesses sent in parallel or
 * broken off halfway are counted all the same. A guess with no live code to aim at is not counted, or a stranger
 * could spend somebody's guesses without even asking for a code. What follows from a right one happens in the
 * transaction that uses it up: both or neither.
 */
export async function proveCode<Result>(
  deps: CodeDeps,
  attempt: ProofAttempt,
  onProven: (tx: Transaction) => Promise<Result>,
): Promise<Proof<Result>> {
  const now = deps.now();
  const owner = ownerOf(deps, attempt);
  const failuresKey = hiddenKey(deps, 'guesses', deviceClass(attempt.knownDevice), attempt.phone);

  const counted = await deps.db.transaction(async (tx) => {
    const code = await lockNewestCode(tx, owner, before(now, codeLimits.lifetimeMs));
    if (code?.usedAt && now.getTime() - code.usedAt.getTime() < justUsedMs)
      return { outcome: 'just_used' as const };
    if (!code || !isLive(code, now)) return { outcome: 'expired' as const };
    const until = nextGuessAt(await lockHits(tx, failuresKey, now), now);
    if (until > now) return { outcome: 'wait' as const, until };
    const forgottenAt = before(now, -codeLimits.guesses.rememberedMs);
    await countGuess(tx, owner, { createdAt: code.createdAt, failuresKey, at: now, forgottenAt });
    return { outcome: 'counted' as const, code };
  });
  if (counted.outcome !== 'counted') return counted;

  const { code } = counted;
  const guess = codeHash(deps, attempt, normalizeCode(attempt.code) ?? '');
  if (!equalInConstantTime(guess, code.codeHash)) {
    return { outcome: 'wrong', attemptsLeft: codeLimits.attemptsPerCode - code.attempts - 1 };
  }
  return deps.db.transaction(async (tx): Promise<Proof<Result>> => {
    const used = await useCode(tx, owner, {
      createdAt: code.createdAt,
      at: now,
      failuresKey,
      conversion: code.knownDevice ? undefined : conversionOf(deps, attempt.phone, code.createdAt),
    });
    return used ? { outcome: 'proven', result: await onProven(tx) } : { outcome: 'just_used' };
  });
}

const justUsedMs = 10_000;

type Holder = { phone: string; browserId: string; knownDevice: KnownDevice | undefined };

function ownerOf(deps: CodeDeps, holder: Holder): CodeOwner {
  return { phone: holder.phone, browserHash: keyedHash(deps, 'browser', holder.browserId) };
}

function newCode(deps: CodeDeps, holder: Holder, code: string, now: Date) {
  return {
    codeHash: codeHash(deps, holder, code),
    createdAt: now,
    expiresAt: before(now, -codeLimits.lifetimeMs),
    knownDevice: holder.knownDevice !== undefined,
  };
}

function codeHash(deps: CodeDeps, holder: Holder, code: string): Buffer {
  return keyedHash(deps, 'code', holder.phone, holder.browserId, code);
}

/** The parts travel as JSON, so that no two lists of parts look the same to the hash. */
function keyedHash(deps: CodeDeps, ...parts: string[]): Buffer {
  return mac(deps.codeKey, JSON.stringify(parts));
}

/** A name for a budget that tells what it limits, but not whom. */
function hiddenKey(deps: CodeDeps, what: string, ...whom: string[]): string {
  return `${what} ${keyedHash(deps, 'budget', what, ...whom).toString('base64url')}`;
}

/** When the live code that this browser asked for within the last minute may be replaced. */
async function findJustSent(db: Queryable, owner: CodeOwner, now: Date): Promise<Date | undefined> {
  const newest = await findNewestCode(db, owner, before(now, codeLimits.lifetimeMs));
  if (!newest || !isLive(newest, now)) return undefined;
  const freeAt = resendAt(newest.createdAt);
  return freeAt > now ? freeAt : undefined;
}

/**
 * All budgets of one send. A known device has every one of them for itself or shares it with known devices only:
 * whatever strangers use up, on this number or in the whole country, its owner can still log in.
 */
function sendBudgets(
  deps: CodeDeps,
  request: SendRequest,
  prefix: string,
): (Budget & { reason: WaitReason })[] {
  const { limits } = deps;
  const group = request.knownDevice === undefined ? 'stranger' : 'known';
  const block = hiddenKey(deps, 'sms block', group, addressBlockOf(request.address));
  return [
    ...codeLimits.sendsPerPhone.map(({ name, max, windowMs }) => ({
      reason: 'phone' as const,
      key: phoneKey(deps, request, name),
      max,
      windowMs,
    })),
    ...(request.knownDevice ? [knownDevicesBudget(deps, request.phone, request.knownDevice)] : []),
    { reason: 'block', key: block, max: limits.perBlockHourly, windowMs: hourMs },
    {
      reason: 'client',
      key: `sms client ${group} ${request.clientId}`,
      max: limits.perClientHourly,
      windowMs: hourMs,
    },
    {
      reason: 'country',
      key: `sms country ${group} ${prefix}`,
      max: limits.perCountryDaily,
      windowMs: dayMs,
    },
    { reason: 'daily', key: `sms daily ${group}`, max: limits.daily, windowMs: dayMs },
  ];
}

/**
 * One for all devices that last logged in with the number in the same month. Who had the number before logs in with it no
 * more: their devices stay behind in an older month, and cannot use up what its present owner has.
 */
function knownDevicesBudget(deps: CodeDeps, phone: string, { lastLogin }: KnownDevice) {
  const key = hiddenKey(deps, 'sms phone known', phone, lastLogin.toISOString().slice(0, 7));
  return { reason: 'phone' as const, key, ...codeLimits.sendsByKnownDevices };
}

/** Of one address block only a few sends count in an hour, or a single stranger could pause a whole country. */
function conversionBudget(deps: CodeDeps, request: SendRequest): Budget {
  const key = hiddenKey(deps, 'sms conversion', addressBlockOf(request.address));
  return { key, max: 5, windowMs: hourMs };
}

function phoneKey(deps: CodeDeps, holder: Holder, window: string): string {
  return hiddenKey(deps, `sms phone ${window}`, deviceClass(holder.knownDevice), holder.phone);
}

/** All strangers are one; each known device stands alone, since a number may have had another owner before. */
function deviceClass(knownDevice: KnownDevice | undefined): string {
  return knownDevice === undefined ? 'stranger' : `known ${knownDevice.id}`;
}

async function findPauseEnd(deps: CodeDeps, prefix: string, now: Date): Promise<Date | undefined> {
  const slots = await findConversionSlots(deps.db, prefix, slotsSince(now));
  const until = pausedUntil(slots, deps.limits.conversion, now);
  deps.metrics.smsPaused.set({ prefix }, until ? 1 : 0);
  if (until && !deps.pausedPrefixes.has(prefix)) {
    deps.pausedPrefixes.add(prefix);
    deps.log.warn({ prefix, until }, 'hardly any one-time code is proven: no more are sent to this prefix');
  }
  if (!until && deps.pausedPrefixes.delete(prefix)) {
    deps.log.info({ prefix }, 'one-time codes are sent to this prefix again');
  }
  return until;
}

function refuse(deps: CodeDeps, reason: WaitReason, until: Date): Sent {
  deps.metrics.smsRefused.inc({ reason });
  return { outcome: 'wait', until, reason };
}

/**
 * After a failed send, the person may try again at once: the minute is given back. All else stays spent, because a
 * gateway that did not answer may have sent, and charged for, the SMS all the same.
 */
async function takeBack(
  tx: Transaction,
  deps: CodeDeps,
  request: SendRequest,
  sent: { prefix: string | undefined; at: Date },
): Promise<void> {
  await giveBack(tx, [phoneKey(deps, request, codeLimits.sendsPerPhone[0].name)], sent.at);
  await withdrawCode(tx, ownerOf(deps, request), sent.at);
  if (sent.prefix) await uncountSent(tx, sent.prefix, slotOf(sent.at));
}

function conversionOf(deps: CodeDeps, phone: string, sentAt: Date) {
  if (deps.testPhones.has(phone)) return undefined;
  const prefix = countryPrefixOf(phone, deps.limits.countryPrefixes);
  return prefix ? { prefix, slot: slotOf(sentAt) } : undefined;
}

/** A gateway may repeat the number or the text in its complaint, so no number of four digits or more gets through. */
function describeFailure(error: unknown): string {
  if (!(error instanceof Error)) return typeof error;
  const { code } = error as NodeJS.ErrnoException;
  const own = [error.name, code, error.message]
    .filter(Boolean)
    .join(' ')
    .replace(/\d(?:[\s().-]*\d){3,}/g, '#');
  return error.cause ? `${own}: ${describeFailure(error.cause)}` : own;
}

function before(instant: Date, ms: number): Date {
  return new Date(instant.getTime() - ms);
}
