import type { FastifyReply, FastifyRequest } from 'fastify';
import { errorRedirect, redirectWith } from './authorization-response.ts';
import type { IdentityDeps } from './deps.ts';
import type { RedirectError } from './domain/authorization-request.ts';
import { type NextStep, nextStep } from './domain/next-step.ts';
import { type Flow, sealFlow } from './flow.ts';
import { sessionOf } from './login-session.ts';
import { makeRoutedSecret } from './routed-secret.ts';
import { insertCode } from './store/authorization-codes.ts';
import { findConsent } from './store/consents.ts';
import type { LiveSession } from './store/live-sessions.ts';
import { survivorOf } from './store/users.ts';
import { readIdTokenHint } from './tokens.ts';

const codeLifetimeMs = 60_000;

/** The client was switched off, or its address taken away, while somebody was logging in: nothing is sent there. */
export class ClientGone extends Error {}

export type Decision = { step: NextStep; session: LiveSession | undefined };

/** Gathers the facts for the next step. */
export async function decide(
  deps: IdentityDeps,
  flow: Flow,
  session: LiveSession | undefined,
): Promise<Decision> {
  const { request } = flow;
  const client = await deps.clients.find(request.clientId);
  if (!client || client.disabledAt || !client.redirectUris.includes(request.redirectUri))
    throw new ClientGone();
  const hint =
    request.idTokenHint === undefined ? undefined : await readIdTokenHint(deps.issuer, request.idTokenHint);
  const consent =
    session && (await findConsent(deps.db, { userId: session.userId, clientId: request.clientId }));
  const step = nextStep({
    request,
    startedAt: new Date(flow.startedAt),
    now: deps.now(),
    session,
    hintedUserId:
      request.idTokenHint === undefined ? undefined : hint ? await survivorOf(deps.db, hint.userId) : null,
    asksConsent: client.audience === 'external',
    asksDocuments: client.identityDocuments,
    consent,
  });
  return { step, session };
}

export async function decideFor(deps: IdentityDeps, request: FastifyRequest, flow: Flow): Promise<Decision> {
  return decide(deps, flow, await sessionOf(deps, request));
}

/** Sends the browser on its way once no more login is needed. */
export async function follow(
  deps: IdentityDeps,
  reply: FastifyReply,
  flow: Flow,
  { step, session }: Decision,
): Promise<FastifyReply> {
  switch (step.kind) {
    case 'login':
      return reply.redirect(`${deps.urls.sso}/auth/login?flow=${sealFlow(deps, flow)}`, 303);
    case 'consent':
      return reply.redirect(`${deps.urls.sso}/auth/consent?flow=${sealFlow(deps, flow)}`, 303);
    case 'error':
      return sendBack(deps, reply, step.error);
    case 'grant':
      if (!session) throw new Error('a grant without a session');
      return grant(deps, reply, flow, session);
  }
}

export function sendBack(deps: IdentityDeps, reply: FastifyReply, error: RedirectError): FastifyReply {
  return reply.redirect(errorRedirect(error, deps.issuer.issuer), 303);
}

async function grant(
  deps: IdentityDeps,
  reply: FastifyReply,
  flow: Flow,
  session: LiveSession,
): Promise<FastifyReply> {
  const { request } = flow;
  const now = deps.now();
  const code = makeRoutedSecret([session.userId]);
  const client = await deps.clients.find(request.clientId);
  const written = await insertCode(deps.db, {
    userId: session.userId,
    codeHash: code.hash,
    clientId: request.clientId,
    sid: session.sid,
    redirectUri: request.redirectUri,
    codeChallenge: request.codeChallenge,
    nonce: request.nonce,
    scopes: request.scopes.filter((scope) => client?.scopes.includes(scope)),
    now,
    expiresAt: new Date(now.getTime() + codeLifetimeMs),
  });
  if (!written) {
    // The session ended in this very moment, for instance by a logout in another tab.
    const { redirectUri, state } = request;
    return sendBack(deps, reply, {
      redirectUri,
      state,
      error: 'login_required',
      description: 'The session has ended.',
    });
  }
  return reply.redirect(
    redirectWith(request.redirectUri, {
      state: request.state,
      session_state: session.sid,
      code: code.text,
      iss: deps.issuer.issuer,
    }),
    303,
  );
}
