import { randomUUID } from 'node:crypto';
import type { Database, Transaction } from '../platform/db.ts';
import { addJob } from '../platform/jobs.ts';
import type { UserId } from './domain/user.ts';
import { backchannelLogout, type LogoutNotice } from './logout-notice.ts';
import { tellOfEndedSessions } from './partner-events.ts';
import {
  endClientPart,
  endClientSessionsOfSessions,
  endOpenSessions,
  revokeGrantsOfClient,
  revokeGrantsOfSessions,
  type SessionEndReason,
  type SessionKey,
} from './store/sessions.ts';

/** Ends one session with everything that hangs on it. False when there was none open. */
export async function endSession(
  db: Database,
  end: { userId: UserId; sid: string; reason: SessionEndReason; at: Date },
): Promise<boolean> {
  return db.transaction(async (tx) => (await endSessions(tx, end)) > 0);
}

/** The same inside a larger transaction, for one session or, without `sid`, for all that a person has. */
export async function endSessions(
  tx: Transaction,
  end: { userId: UserId; sid?: string; reason: SessionEndReason; at: Date },
): Promise<number> {
  const ended = await endOpenSessions(tx, end);
  await endParts(tx, ended, end);
  return ended.length;
}

/**
 * What follows once sessions are marked as ended: their grants die, and their clients are told. The jobs are added
 * in the same transaction, so that no client is forgotten and none is told of something that was rolled back.
 */
export async function endParts(
  tx: Transaction,
  sessions: readonly SessionKey[],
  { reason, at }: { reason: SessionEndReason; at: Date },
): Promise<void> {
  if (sessions.length === 0) return;
  const parts = await endClientSessionsOfSessions(tx, sessions, at);
  await revokeGrantsOfSessions(tx, sessions, { reason, at });
  await tellOfEndedSessions(tx, parts, at);
  for (const { userId, sid, clientId, wantsLogoutToken } of parts) {
    if (!wantsLogoutToken) continue;
    const notice: LogoutNotice = { userId, sid, clientId, deliveryId: randomUUID() };
    // One at a time for each client, after everything else: a partner that does not answer holds up nobody else.
    await addJob(tx, backchannelLogout.name, notice, {
      maxAttempts: backchannelLogout.maxAttempts,
      queue: `backchannel ${clientId}`,
      priority: 10,
    });
  }
}

/**
 * Ends one client's part of a session; the rest lives on. Nobody is told: the client itself asked for it. As
 * everywhere, the part is locked before its families, so that nobody waits in a circle; an exchange that holds the
 * part is waited for, and its family seen.
 */
export async function endClientSession(
  tx: Transaction,
  end: { userId: UserId; sid: string; clientId: string; reason: string; at: Date },
): Promise<boolean> {
  const ended = await endClientPart(tx, end, end.at);
  await revokeGrantsOfClient(tx, end, end);
  return ended;
}
