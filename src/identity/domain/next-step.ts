import type { AuthorizationRequest, RedirectError } from './authorization-request.ts';

/** A live session of this browser, as far as the decision needs it. */
export type SessionFacts = { userId: string; authTime: Date };

export type StepFacts = {
  request: AuthorizationRequest;
  /** When this authorization request arrived: a login or consent after it was given for it. */
  startedAt: Date;
  now: Date;
  session: SessionFacts | undefined;
  /** The person that `id_token_hint` names; null when the hint is not ours. */
  hintedUserId: string | null | undefined;
  /** Only clients outside the ecosystem ask. */
  asksConsent: boolean;
  /** Whether the client would see identity documents, which the person must have been told. */
  asksDocuments: boolean;
  consent: { scopes: string[]; identityDocuments: boolean; grantedAt: Date } | undefined;
};

export type NextStep =
  | { kind: 'login' }
  | { kind: 'consent' }
  | { kind: 'error'; error: RedirectError }
  | { kind: 'grant' };

/** What the browser sees next, once the request itself is in order. */
export function nextStep(facts: StepFacts): NextStep {
  const { request, session, hintedUserId } = facts;
  const back = (error: string, description: string): NextStep => ({
    kind: 'error',
    error: { redirectUri: request.redirectUri, state: request.state, error, description },
  });
  const silent = request.prompt.includes('none');
  const justLoggedIn = session !== undefined && isForThisRequest(session, facts);

  if (hintedUserId === null)
    return back('invalid_request', 'id_token_hint is not an ID token of this service.');
  if (justLoggedIn && hintedUserId !== undefined && session.userId !== hintedUserId) {
    return back('login_required', 'Another person than the one of id_token_hint has logged in.');
  }
  if (needsLogin(facts, justLoggedIn)) {
    return silent ? back('login_required', 'The person has to log in.') : { kind: 'login' };
  }
  if (needsConsent(facts)) {
    return silent ? back('consent_required', 'The person has to consent.') : { kind: 'consent' };
  }
  return { kind: 'grant' };
}

/** A login made for this request satisfies it, but not for ever: its pages can be opened again for half an hour. */
function isForThisRequest(session: SessionFacts, { request, startedAt, now }: StepFacts): boolean {
  const ageMs = now.getTime() - session.authTime.getTime();
  const longestMs = Math.max((request.maxAgeSeconds ?? Number.POSITIVE_INFINITY) * 1000, 60_000);
  return session.authTime >= startedAt && ageMs <= longestMs;
}

function needsLogin({ request, session, hintedUserId, now }: StepFacts, justLoggedIn: boolean): boolean {
  if (!session) return true;
  if (justLoggedIn) return false;
  if (request.prompt.includes('login') || request.prompt.includes('select_account')) return true;
  if (hintedUserId !== undefined && session.userId !== hintedUserId) return true;
  const ageMs = now.getTime() - session.authTime.getTime();
  return request.maxAgeSeconds !== undefined && ageMs > request.maxAgeSeconds * 1000;
}

function needsConsent({ request, asksConsent, asksDocuments, consent, startedAt }: StepFacts): boolean {
  const insists = request.prompt.includes('consent');
  if (!insists && !asksConsent) return false;
  if (consent === undefined || !request.scopes.every((scope) => consent.scopes.includes(scope))) return true;
  if (asksConsent && asksDocuments && !consent.identityDocuments) return true;
  return insists && consent.grantedAt < startedAt;
}
