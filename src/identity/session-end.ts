import { randomUUID } from 'node:crypto';
import type { Database, Transaction } from '../platform/db.ts';
import { addJob } from '../platform/jobs.ts';
import { backchannelLogout, type LogoutNotice } from './backchannel-logout.ts';
import type { UserId } from './domain/user.ts';
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
  await revokeGrantsOfSessions(tx, sessions, { reason, at });
  for (const { userId, sid, clientId } of await endClientSessionsOfSessions(tx, sessions, at)) {
    const notice: LogoutNotice = { userId, sid, clientId, deliveryId: randomUUID() };
    await addJob(tx, backchannelLogout.name, notice, { maxAttempts: backchannelLogout.maxAttempts });
  }
}

/** Ends one client's part of a session; the rest lives on. Nobody is told: the client itself asked for it. */
export async function endClientSession(
  tx: Transaction,
  end: { userId: UserId; sid: string; clientId: string; reason: string; at: Date },
): Promise<boolean> {
  await revokeGrantsOfClient(tx, end, end);
  return endClientPart(tx, end, end.at);
}
