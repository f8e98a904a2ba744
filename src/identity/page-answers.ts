import type { FastifyReply, FastifyRequest } from 'fastify';
import { sendPage } from '../platform/html.tsx';
import { chooseLanguage, type Language, languages } from '../platform/languages.ts';
import { errorRedirect } from './authorization-response.ts';
import { csrfTokenOf } from './browser.ts';
import type { IdentityDeps } from './deps.ts';
import { codeLimits } from './domain/one-time-code.ts';
import { longestMs } from './domain/session.ts';
import { type Flow, sealFlow } from './flow.ts';
import { type CodeError, CodePage } from './pages/code-page.tsx';
import { ConsentPage, type ConsentScope } from './pages/consent-page.tsx';
import { loginScript } from './pages/login-script.ts';
import { MessagePage, type NextStep } from './pages/message-page.tsx';
import { type PhoneError, PhonePage } from './pages/phone-page.tsx';
import type { MessageKind } from './pages/texts.ts';

/** Turns the state of a login into the page that shows it. */
export function pageAnswers(deps: IdentityDeps) {
  const { sso } = deps.urls;

  const languageOf = (request: FastifyRequest, flow: Flow): Language =>
    flow.language ?? chooseLanguage(flow.request.uiLocales, request.headers['accept-language']);

  const frame = (request: FastifyRequest, flow: Flow, path: string) => ({
    language: languageOf(request, flow),
    languages: languages.map((language) => ({ language, href: link(path, { ...flow, language }) })),
  });

  const link = (path: string, flow: Flow) => `${sso}${path}?flow=${sealFlow(deps, flow)}`;

  const form = (flow: Flow, path: string) => ({
    action: `${sso}${path}`,
    csrf: csrfTokenOf(deps, flow.browser),
    flow: sealFlow(deps, flow),
  });

  const options = (flow: Flow, status: number) => ({
    status,
    script: loginScript,
    formAction: targetsOf(flow.request.redirectUri),
  });

  return {
    link,
    languageOf,

    async phone(
      request: FastifyRequest,
      reply: FastifyReply,
      flow: Flow,
      shown: { phone?: string | undefined; error?: PhoneError; status?: number } = {},
    ) {
      const client = await deps.clients.find(flow.request.clientId);
      const denied = {
        redirectUri: flow.request.redirectUri,
        state: flow.request.state,
        error: 'access_denied',
        description: 'The person did not log in.',
      };
      const page = PhonePage({
        ...frame(request, flow, '/auth/login'),
        ...form(flow, '/auth/login'),
        clientName: client?.name ?? '',
        phone: shown.phone ?? flow.phone ?? flow.request.loginHint ?? '',
        error: shown.error,
        cancelHref: errorRedirect(denied, deps.issuer.issuer),
      });
      return sendPage(reply, page, options(flow, shown.status ?? 200));
    },

    code(
      request: FastifyRequest,
      reply: FastifyReply,
      flow: Flow & { phone: string },
      shown: { error?: CodeError; status?: number } = {},
    ) {
      const waitMs = (flow.resendAt ?? 0) - deps.now().getTime();
      const page = CodePage({
        ...frame(request, flow, '/auth/code'),
        ...form(flow, '/auth/code'),
        phone: flow.phone,
        validMinutes: codeLimits.lifetimeMs / 60_000,
        resendAction: `${sso}/auth/resend`,
        resendAfterSeconds: Math.max(0, Math.ceil(waitMs / 1000)),
        anotherNumberHref: link('/auth/login', flow),
        error: shown.error,
        notice: shown.error ? undefined : flow.notice,
      });
      return sendPage(reply, page, options(flow, shown.status ?? 200));
    },

    async consent(
      request: FastifyRequest,
      reply: FastifyReply,
      flow: Flow,
      session: { sid: string; phone: string },
    ) {
      const client = await deps.clients.find(flow.request.clientId);
      const documents = client?.identityDocuments ?? false;
      // The number stands in every access token, so the person is told of it whether its scope was asked for or not.
      const scopes = [...new Set([...flow.request.scopes, 'phone'])] as ConsentScope[];
      if (documents) scopes.push('identity_documents');
      const page = ConsentPage({
        ...frame(request, flow, '/auth/consent'),
        ...form({ ...flow, consentShown: { sid: session.sid, documents } }, '/auth/consent'),
        clientName: client?.name ?? '',
        phone: session.phone,
        scopes,
        sessionHours: longestMs / 3600_000,
      });
      return sendPage(reply, page, options(flow, 200));
    },

    /** A page that stands alone: it knows no login, so it cannot lead back into one unless it is told where. */
    message(
      request: FastifyRequest,
      reply: FastifyReply,
      kind: MessageKind,
      shown: { status: number; next?: NextStep; language?: Language; waitSeconds?: number },
    ) {
      const page = MessagePage({
        language: shown.language ?? chooseLanguage(undefined, request.headers['accept-language']),
        languages: [],
        kind,
        next: shown.next,
        waitSeconds: shown.waitSeconds,
        requestId: request.id,
      });
      return sendPage(reply, page, { status: shown.status, script: loginScript });
    },
  };
}

/**
 * Browsers apply the policy to every redirect that follows a form, the client's own ones included, and many clients
 * send people on from their callback to another host. So the scheme is allowed beside the origin, and a native app's
 * scheme alone.
 */
export function targetsOf(redirectUri: string): string[] {
  const { origin, protocol } = new URL(redirectUri);
  return origin === 'null' ? [protocol] : [origin, protocol];
}
