import { randomUUID } from 'node:crypto';
import { Type } from 'typebox';
import { Value } from 'typebox/value';
import type { Queryable } from '../platform/db.ts';
import type { Job } from '../platform/jobs.ts';
import { callOutgoing, OutgoingFailed, type OutgoingPolicy, OutgoingRefused } from '../platform/outgoing.ts';
import type { Client } from './domain/client.ts';
import type { UserId } from './domain/user.ts';
import { backchannelLogout, type LogoutNotice } from './logout-notice.ts';
import { findClient } from './store/clients.ts';
import {
  type DeliveryOutcome,
  findDeliveryProgress,
  insertDeliveryAttempt,
} from './store/logout-deliveries.ts';

/** Back-Channel Logout 1.0, section 2.4. A `nonce` is forbidden there, so that it is not taken for an ID token. */
export type LogoutClaims = {
  iss: string;
  aud: string;
  iat: number;
  exp: number;
  jti: string;
  sub: string;
  sid: string;
  events: { 'http://schemas.openid.net/event/backchannel-logout': Record<string, never> };
};

export type BackchannelLogoutDeps = {
  db: Queryable;
  now: () => Date;
  issuer: string;
  outgoing: OutgoingPolicy;
  /** Signs with the algorithm of the client's ID tokens and the header `typ: logout+jwt`. */
  signLogoutToken: (client: Client, claims: LogoutClaims) => string | Promise<string>;
};

const lifetimeSeconds = 120;

/** Tells one client that a session has ended. Every attempt leaves a row for the operator and the partner to see. */
export function backchannelLogoutJob(deps: BackchannelLogoutDeps): Job {
  return {
    name: backchannelLogout.name,
    async run(payload) {
      const notice = readNotice(payload);
      const client = await findClient(deps.db, notice.clientId);
      if (!client?.backchannelLogoutUri || client.disabledAt) return;
      const { attempts, delivered } = await findDeliveryProgress(deps.db, notice);
      // A job may run twice, for instance when its node died right after the partner had answered.
      if (delivered) return;

      const at = deps.now();
      const token = await deps.signLogoutToken(client, logoutClaims(deps.issuer, notice, at));
      const result = await deliver(client.backchannelLogoutUri, token, deps.outgoing);
      await insertDeliveryAttempt(deps.db, { ...notice, ...result, attempt: attempts + 1, at });
      // The queue tries again after a pause. A refused address too: its owner may correct it within the day.
      if (result.outcome !== 'delivered') {
        throw new Error(`back-channel logout of ${notice.clientId}: ${result.detail}`);
      }
    },
  };
}

const noticeSchema = Type.Object({
  userId: Type.String(),
  sid: Type.String(),
  clientId: Type.String(),
  deliveryId: Type.String(),
});

function readNotice(payload: unknown): LogoutNotice {
  const { userId, ...notice } = Value.Parse(noticeSchema, payload);
  return { ...notice, userId: userId as UserId };
}

function logoutClaims(issuer: string, notice: LogoutNotice, at: Date): LogoutClaims {
  const iat = Math.floor(at.getTime() / 1000);
  return {
    iss: issuer,
    aud: notice.clientId,
    iat,
    exp: iat + lifetimeSeconds,
    jti: randomUUID(),
    sub: notice.userId,
    sid: notice.sid,
    events: { 'http://schemas.openid.net/event/backchannel-logout': {} },
  };
}

type Result = { outcome: DeliveryOutcome; status: number | null; detail: string | null };

/** The answer's body is not kept: a receiver may have put the token into it. */
async function deliver(url: string, token: string, policy: OutgoingPolicy): Promise<Result> {
  try {
    const { status } = await callOutgoing(
      {
        method: 'POST',
        url,
        headers: { 'content-type': 'application/x-www-form-urlencoded', accept: '*/*' },
        body: new URLSearchParams({ logout_token: token }).toString(),
      },
      policy,
    );
    if (status === 200 || status === 204) return { outcome: 'delivered', status, detail: null };
    return { outcome: 'failed', status, detail: `The receiver answered ${status}.` };
  } catch (error) {
    if (error instanceof OutgoingRefused) return { outcome: 'refused', status: null, detail: error.message };
    if (error instanceof OutgoingFailed) return { outcome: 'failed', status: null, detail: error.message };
    throw error;
  }
}
