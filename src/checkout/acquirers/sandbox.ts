import { createHash } from 'node:crypto';
import { type Database, isDatabaseAway } from '../../platform/db.ts';
import { deriveKey, equalInConstantTime, mac } from '../../platform/seal.ts';
import type {
  Acquirer,
  AuthorizeCall,
  AuthorizeOutcome,
  DeclineReason,
  OperationCall,
  OperationOutcome,
} from '../domain/acquirer.ts';
import {
  addOperation,
  askForAuthorization,
  bookAuthorization,
  countWrongCode,
  failChallenge,
  findAuthorization,
  findOperation,
  type Key,
  lockAuthorization,
  moveMoney,
  passChallenge,
  type SandboxAuthorization,
  type SandboxOperation,
} from './sandbox-books.ts';
import { behaviourOf } from './sandbox-cards.ts';

const challengeLifetimeMs = 10 * 60_000;
const rightCode = '1234';
const codesAllowed = 3;

export type SandboxOptions = {
  db: Database;
  now: () => Date;
  /** `{CHECKOUT_BASE_URL}/sandbox/acs`, where the pages of `sandbox-acs-routes.ts` stand. */
  acsUrl: string;
  /** What the addresses of challenges are signed with; a key of its own is derived from it. */
  secret: string;
  /** For tests: the call gets lost before the sandbox has seen it, or its answer does after the work was done. */
  loseAnswers?: (call: SandboxCall) => 'before' | 'after' | undefined;
};
export type SandboxCall = Key & { kind: 'authorize' | 'capture' | 'reverse' | 'refund' };

/** What the access-control page may do: it has the token of its address and nothing else. */
export type SandboxAcs = {
  find(token: string): Promise<Challenge | undefined>;
  confirm(token: string, code: string): Promise<Challenge | undefined>;
  cancel(token: string): Promise<Challenge | undefined>;
};
export type Challenge = {
  isOpen: boolean;
  codesLeft: number;
  amount: { minor: bigint; currency: string };
  returnUrl: string;
};

/**
 * An acquirer that moves no money and whose cards do what the contract says. It stands for a company of its own:
 * it keeps its own books, in statements of its own, so that what it has booked stays booked whatever becomes of
 * the caller's transaction. A card is turned into its behaviour at once and not kept.
 */
export function createSandboxAcquirer(options: SandboxOptions): Acquirer & { acs: SandboxAcs } {
  const { db, now } = options;
  const addressKey = deriveKey(options.secret, 'checkout sandbox challenge');
  const loss = (call: SandboxCall) => options.loseAnswers?.(call);

  async function authorize(call: AuthorizeCall): Promise<AuthorizeOutcome> {
    const lost = loss({ ...keyOf(call), kind: 'authorize' });
    if (lost === 'before') return { kind: 'unknown' };
    const row = await bookAuthorization(db, openingRow(call, now()));
    if (lost === 'after' || row.silent) return { kind: 'unknown' };
    if (row.status !== 'failed' && isOtherAmount(row, call)) {
      return { kind: 'declined', reason: 'general_decline' };
    }
    return authorizeOutcome(row);
  }

  async function inquire(key: Key): Promise<AuthorizeOutcome> {
    await failChallenge(db, key, lastBeginning(now()));
    return authorizeOutcome(await askForAuthorization(db, key, now()));
  }

  function authorizeOutcome(row: SandboxAuthorization): AuthorizeOutcome {
    switch (row.status) {
      case 'approved':
        return {
          kind: 'approved',
          approval: { rrn: rrnOf(row), authCode: authCodeOf(row), threeDSecure: row.threeDSecure },
        };
      case 'declined':
        return { kind: 'declined', reason: row.reason ?? 'general_decline' };
      case 'challenge':
        return { kind: 'challenge', url: `${options.acsUrl}/${encodeURIComponent(tokenOf(row))}` };
      case 'failed':
        return { kind: 'failed' };
    }
  }

  async function operate(
    kind: 'capture' | 'reverse' | 'refund',
    call: OperationCall,
  ): Promise<OperationOutcome> {
    const key = keyOf(call);
    const lost = loss({ ...key, kind });
    if (lost === 'before') return { kind: 'unknown' };
    const { minor: amount, currency } = call.amount;
    const authorizationKey = { merchantId: call.merchantId, reference: call.authorization };

    const booked = await db.transaction(async (tx) => {
      const authorization = await lockAuthorization(tx, authorizationKey);
      const decision = decide(kind, authorization, call);
      const row: SandboxOperation = {
        ...key,
        kind,
        authorizationReference: call.authorization,
        amount,
        currency,
        reason: 'refused' in decision ? decision.refused : null,
        createdAt: now(),
      };
      if (!(await addOperation(tx, row))) return findOperation(tx, key);
      if (!('refused' in decision)) await moveMoney(tx, authorizationKey, decision);
      return row;
    });

    if (lost === 'after') return { kind: 'unknown' };
    if (!booked) throw new Error(`${kind} ${call.reference} is booked and cannot be found`);
    const isOther = booked.kind !== kind || booked.authorizationReference !== call.authorization;
    if (isOther || isOtherAmount(booked, call)) return { kind: 'refused', reason: 'general_decline' };
    return operationOutcome(booked);
  }

  /** The address carries merchant, reference and a MAC of both, so that who knows an attempt cannot answer for it. */
  function tokenOf({ merchantId, reference }: Key): string {
    return `${merchantId}.${reference}.${signatureOf({ merchantId, reference }).toString('base64url')}`;
  }

  function keyOfToken(token: string): Key | undefined {
    const [, merchantId, reference, signature] = /^([^.]+)\.(.+)\.([\w-]+)$/.exec(token) ?? [];
    if (!merchantId || !reference || !signature) return undefined;
    const key = { merchantId, reference };
    return equalInConstantTime(signatureOf(key), Buffer.from(signature, 'base64url')) ? key : undefined;
  }

  function signatureOf({ merchantId, reference }: Key): Buffer {
    return mac(addressKey, JSON.stringify([merchantId, reference])).subarray(0, 16);
  }

  async function withChallenge(
    token: string,
    work: (key: Key) => Promise<void>,
  ): Promise<Challenge | undefined> {
    const key = keyOfToken(token);
    if (!key) return undefined;
    await failChallenge(db, key, lastBeginning(now()));
    await work(key);
    const row = await findAuthorization(db, key);
    return row && challengeOf(row);
  }

  return {
    authorize: (call) => orUnknown(authorize(call)),
    complete: (inquiry) => orUnknown(inquire(keyOf(inquiry))),
    capture: (call) => orUnknown(operate('capture', call)),
    reverse: (call) => orUnknown(operate('reverse', call)),
    refund: (call) => orUnknown(operate('refund', call)),
    inquireAuthorization: (inquiry) => orUnknown(inquire(keyOf(inquiry))),
    inquireOperation: (inquiry) => orUnknown(findOperation(db, keyOf(inquiry)).then(operationOutcome)),
    acs: {
      find: (token) => withChallenge(token, async () => {}),
      confirm: (token, code) =>
        withChallenge(token, (key) =>
          code === rightCode ? passChallenge(db, key) : countWrongCode(db, key, codesAllowed),
        ),
      cancel: (token) => withChallenge(token, (key) => failChallenge(db, key, now())),
    },
  };
}

/** The books are away: the statement may still have been the last thing they heard. */
async function orUnknown<Outcome>(work: Promise<Outcome>): Promise<Outcome | { kind: 'unknown' }> {
  try {
    return await work;
  } catch (error) {
    if (isDatabaseAway(error)) return { kind: 'unknown' };
    throw error;
  }
}

function keyOf({ merchantId, reference }: Key): Key {
  return { merchantId, reference };
}

function openingRow(call: AuthorizeCall, at: Date): Parameters<typeof bookAuthorization>[1] {
  const behaviour = behaviourOf(call.card.number);
  return {
    ...keyOf(call),
    status: behaviour.kind,
    reason: behaviour.kind === 'declined' ? behaviour.reason : null,
    amount: call.amount.minor,
    currency: call.amount.currency,
    capture: call.capture,
    captured: behaviour.kind === 'approved' && call.capture ? call.amount.minor : 0n,
    silent: 'silent' in behaviour,
    refusesRefunds: 'refusesRefunds' in behaviour,
    reasonAfterChallenge: behaviour.kind === 'challenge' ? behaviour.reasonAfter : null,
    returnUrl: call.returnUrl,
    createdAt: at,
  };
}

/** A reference that comes back with another amount is another operation, which it must not be. */
function isOtherAmount(
  row: { amount: bigint; currency: string },
  { amount }: { amount: { minor: bigint; currency: string } },
): boolean {
  return row.amount !== amount.minor || row.currency !== amount.currency;
}

/** A challenge that began then or earlier is over. */
function lastBeginning(now: Date): Date {
  return new Date(now.getTime() - challengeLifetimeMs);
}

type Decision = { refused: DeclineReason } | { captured: bigint; refunded: bigint; reversed: boolean };
const refused: Decision = { refused: 'general_decline' };

/** What an operation makes of an authorization. A capture may take less than was held and happens once; a reversal gives back all. */
function decide(
  kind: 'capture' | 'reverse' | 'refund',
  authorization: SandboxAuthorization | undefined,
  call: OperationCall,
): Decision {
  if (authorization?.status !== 'approved' || authorization.reversed) return refused;
  const { amount, currency, captured, refunded } = authorization;
  const { minor } = call.amount;
  if (call.amount.currency !== currency || minor <= 0n) return refused;

  switch (kind) {
    case 'capture':
      if (captured > 0n || minor > amount) return refused;
      return { captured: minor, refunded, reversed: false };
    case 'reverse':
      if (refunded > 0n || minor !== amount) return refused;
      return { captured, refunded, reversed: true };
    case 'refund':
      if (authorization.refusesRefunds) return { refused: 'rejected_by_payee' };
      if (refunded + minor > captured) return refused;
      return { captured, refunded: refunded + minor, reversed: false };
  }
}

function operationOutcome(row: SandboxOperation | undefined): OperationOutcome {
  if (!row) return { kind: 'failed' };
  return row.reason ? { kind: 'refused', reason: row.reason } : { kind: 'done', rrn: rrnOf(row) };
}

function challengeOf(row: SandboxAuthorization): Challenge {
  return {
    isOpen: row.status === 'challenge',
    codesLeft: codesAllowed - row.wrongCodes,
    amount: { minor: row.amount, currency: row.currency },
    returnUrl: row.returnUrl,
  };
}

/** Twelve digits (ISO 8583, field 37), equal for equal references. */
function rrnOf(key: Key): string {
  return (digestOf('rrn', key).readBigUInt64BE() % 10n ** 12n).toString().padStart(12, '0');
}

const authCodeLetters = '0123456789ABCDEFGHJKLMNPQRSTUVWXYZ';

/** Six letters and digits (ISO 8583, field 38), equal for equal references. */
function authCodeOf(key: Key): string {
  return [...digestOf('authorization code', key).subarray(0, 6)]
    .map((byte) => authCodeLetters[byte % authCodeLetters.length])
    .join('');
}

function digestOf(purpose: string, { merchantId, reference }: Key): Buffer {
  return createHash('sha256')
    .update(JSON.stringify([purpose, merchantId, reference]))
    .digest();
}
