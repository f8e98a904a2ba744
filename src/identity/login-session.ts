import { randomUUID } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { equalInConstantTime } from '../platform/seal.ts';
import type { IdentityDeps } from './deps.ts';
import { acr } from './domain/authorization-request.ts';
import { longestMs } from './domain/session.ts';
import type { UserId } from './domain/user.ts';
import { makeRoutedSecret, readRoutedSecret } from './routed-secret.ts';
import { endSessions } from './session-end.ts';
import { findLiveSession, insertSession, type LiveSession } from './store/live-sessions.ts';
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
  | { ok: true; session: LiveSession }
  | { ok: false; refusal: 'inactive' | 'not_registered' };

/**
 * Turns a proven number into a session. Every login makes a new one with a new cookie and ends the one this browser
 * had, so that nobody can fix a session beforehand and a shared computer does not carry the last person along.
 */
export async function logIn(
  deps: IdentityDeps,
  request: FastifyRequest,
  reply: FastifyReply,
  phone: string,
): Promise<LoginResult> {
  const former = await sessionOf(deps, request);
  const authTime = deps.now();
  const sid = randomUUID();
  const result = await deps.db.transaction(async (tx): Promise<LoginResult & { cookie?: string }> => {
    const account = deps.config.selfRegistration
      ? (await findOrCreateUserByPhone(tx, deps.users, phone)).account
      : await holdAccountByPhone(tx, phone);
    if (!account) return { ok: false, refusal: 'not_registered' };
    if (account.status !== 'active') return { ok: false, refusal: 'inactive' };
    const cookie = makeRoutedSecret([account.id, sid]);
    const session = {
      userId: account.id,
      sid,
      cookieHash: cookie.hash,
      phone,
      authTime,
      acr,
      amr: ['sms'],
    };
    await insertSession(tx, { ...session, expiresAt: new Date(authTime.getTime() + longestMs) });
    if (former) {
      await endSessions(tx, {
        userId: former.userId as UserId,
        sid: former.sid,
        reason: 'replaced',
        at: authTime,
      });
    }
    return { ok: true, session, cookie: cookie.text };
  });
  if (result.cookie) deps.cookies.set(reply, 'session', result.cookie);
  return result;
}
