import { randomUUID } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import type { Transaction } from '../platform/db.ts';
import { equalInConstantTime } from '../platform/seal.ts';
import type { IdentityDeps } from './deps.ts';
import { acr } from './domain/authorization-request.ts';
import { longestMs } from './domain/session.ts';
import type { UserId } from './domain/user.ts';
import { makeRoutedSecret, readRoutedSecret } from './routed-secret.ts';
import { endSessions } from './session-end.ts';
import { findLiveSession, insertSession, type LiveSession, renewSession } from './store/live-sessions.ts';
import { holdAccountByPhone } from './store/users.ts';
import { findOrCreateUserByPhone } from './users.ts';

/** The live session of this browser. */
export async function sessionOf(
  deps: IdentityDeps,
  request: FastifyRequest,
): Promise<LiveSession | undefined> {
  const cookie = readRoutedSecret(deps.cookies.read(request, 'session') ?? '', 'userId', 'sid');
  if (!cookie) return undefined;
  const session = await findLiveSession(deps.db, { userId: cookie.userId, sid: cookie.sid, now: deps.now() });
  return session && equalInConstantTime(session.cookieHash, cookie.hash) ? session : undefined;
}

export type LoginResult =
  | { ok: true; session: LiveSession; cookie: string }
  | { ok: false; refusal: 'inactive' | 'not_registered' };

/**
 * Turns a proven number into a session. Every login gives the browser a new cookie, so that nobody can fix a session
 * beforehand. The same person who logs in again keeps the session, or every other partner would be logged out by it;
 * another person gets one of their own, and the one before ends.
 */
export async function logIn(
  deps: IdentityDeps,
  tx: Transaction,
  phone: string,
  former: LiveSession | undefined,
): Promise<LoginResult> {
  const account = deps.config.selfRegistration
    ? (await findOrCreateUserByPhone(tx, deps.users, phone)).account
    : await holdAccountByPhone(tx, phone);
  if (!account) return { ok: false, refusal: 'not_registered' };
  if (account.status !== 'active') return { ok: false, refusal: 'inactive' };

  const authTime = deps.now();
  const expiresAt = new Date(authTime.getTime() + longestMs);
  const login = { userId: account.id, phone, authTime, acr, amr: ['sms'] };
  if (former?.userId === account.id) {
    const cookie = makeRoutedSecret([account.id, former.sid]);
    const session = { ...login, sid: former.sid, cookieHash: cookie.hash };
    if (await renewSession(tx, { ...session, expiresAt })) return { ok: true, session, cookie: cookie.text };
  }
  const sid = randomUUID();
  const cookie = makeRoutedSecret([account.id, sid]);
  const session = { ...login, sid, cookieHash: cookie.hash };
  await insertSession(tx, { ...session, expiresAt });
  if (former) {
    const end = {
      userId: former.userId as UserId,
      sid: former.sid,
      reason: 'replaced' as const,
      at: authTime,
    };
    await endSessions(tx, end);
  }
  return { ok: true, session, cookie: cookie.text };
}
