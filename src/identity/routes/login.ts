import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify';
import { type FormFields, queryOf } from '../../platform/form.ts';
import { commonRefusals, refuserOf } from '../../platform/problem.ts';
import { authorizationLink } from '../authorization-response.ts';
import { deviceKnownFor, isCsrfTokenOf, knownBrowserOf, rememberDevice } from '../browser.ts';
import { type Decision, decide, decideFor, follow } from '../continue-login.ts';
import type { IdentityDeps } from '../deps.ts';
import { normalizeCode } from '../domain/one-time-code.ts';
import { parsePhone } from '../domain/phone.ts';
import { type Flow, type OpenedFlow, openFlow } from '../flow.ts';
import { logIn } from '../login-session.ts';
import { proveCode, type Sent, sendCode } from '../one-time-codes.ts';
import { pageAnswers } from '../page-answers.ts';
import { codeText } from '../sms/text.ts';
import { saveConsent } from '../store/consents.ts';

const hidden = { schema: { hide: true } } as const;
const refuse = refuserOf(commonRefusals);

type FlowWithPhone = Flow & { phone: string };

/** The steps of a login after the first page: number, code, consent. Each is a plain form that survives reload and back. */
export const login: FastifyPluginAsync<IdentityDeps> = async (app, deps) => {
  const answer = pageAnswers(deps);

  app.get('/auth/login', hidden, async (request, reply) => {
    const flow = shownFlow(request, reply);
    if (!flow) return reply;
    const decision = await decideFor(deps, request, flow);
    return decision.step.kind === 'login'
      ? answer.phone(request, reply, flow)
      : follow(deps, reply, flow, decision);
  });

  app.post('/auth/login', hidden, async (request, reply) => {
    const flow = submittedFlow(request, reply);
    if (!flow) return reply;
    const typed = fieldOf(request, 'phone').trim();
    const phone = parsePhone(typed, 'AZ');
    if (!phone) {
      const kind = typed === '' ? ('missing' as const) : ('malformed' as const);
      return answer.phone(request, reply, flow, { phone: typed.slice(0, 64), error: { kind }, status: 400 });
    }
    const decision = await decideFor(deps, request, flow);
    if (isDone(decision, phone)) return follow(deps, reply, flow, decision);
    const sent = await send(request, { ...flow, phone });
    if (sent.outcome === 'sent' || sent.outcome === 'already_sent')
      return toCodePage(reply, flow, phone, sent);
    return refuseToSend(request, reply, flow, typed, sent);
  });

  app.get('/auth/code', hidden, async (request, reply) => {
    const flow = shownFlow(request, reply);
    if (!flow) return reply;
    if (!hasPhone(flow)) return answer.phone(request, reply, flow);
    const decision = await decideFor(deps, request, flow);
    if (isDone(decision, flow.phone)) return follow(deps, reply, flow, decision);
    return answer.code(request, reply, flow);
  });

  app.post('/auth/code', hidden, async (request, reply) => {
    const flow = submittedFlow(request, reply);
    if (!flow) return reply;
    if (!hasPhone(flow)) return answer.phone(request, reply, flow);
    const { phone } = flow;
    const before = await decideFor(deps, request, flow);
    if (isDone(before, phone)) return follow(deps, reply, flow, before);

    const typed = fieldOf(request, 'code');
    if (!normalizeCode(typed)) {
      return answer.code(request, reply, flow, { error: { kind: 'malformed' }, status: 400 });
    }
    const knownDevice = deviceKnownFor(deps, request, phone);
    // The code is used up in the transaction that makes the session: if that fails, the code can be sent again.
    const attempt = { phone, browserId: flow.browser, knownDevice, code: typed };
    const former = before.session;
    const proof = await proveCode(deps.codes, attempt, async (tx) => {
      const result = await logIn(deps, tx, phone, former);
      // Nobody would get the cookie. A second click breaks the first one's loading off, and comes with the same code.
      if (request.raw.socket.destroyed) throw refuse('request_timeout');
      return result;
    });
    switch (proof.outcome) {
      case 'wrong':
        return answer.code(request, reply, flow, {
          error:
            proof.attemptsLeft > 0
              ? { kind: 'wrong_code', attemptsLeft: proof.attemptsLeft }
              : { kind: 'expired' },
          status: 400,
        });
      case 'just_used':
        // The same form came twice: the first one has logged this browser in, and the page finds that out.
        return reply.redirect(answer.link('/auth/code', flow), 303);
      case 'expired':
        return answer.code(request, reply, flow, { error: { kind: 'expired' }, status: 400 });
      case 'wait':
        return answer.code(request, reply, flow, {
          error: { kind: 'too_many_attempts', waitSeconds: secondsUntil(proof.until) },
          status: 429,
        });
    }
    const { result } = proof;
    if (!result.ok) {
      const kind = result.refusal === 'inactive' ? 'account_inactive' : 'registration_closed';
      return answer.message(request, reply, kind, {
        status: 403,
        language: answer.languageOf(request, flow),
        next: { label: 'another_number', href: answer.link('/auth/login', flow) },
      });
    }
    deps.cookies.set(reply, 'session', result.cookie);
    rememberDevice(deps, request, reply, phone);
    return follow(deps, reply, flow, await decide(deps, flow, result.session));
  });

  app.post('/auth/resend', hidden, async (request, reply) => {
    const flow = submittedFlow(request, reply);
    if (!flow) return reply;
    if (!hasPhone(flow)) return answer.phone(request, reply, flow);
    const decision = await decideFor(deps, request, flow);
    if (isDone(decision, flow.phone)) return follow(deps, reply, flow, decision);
    const sent = await send(request, flow);
    if (sent.outcome === 'sent' || sent.outcome === 'already_sent') {
      return toCodePage(reply, flow, flow.phone, sent, 'sent_again');
    }
    const error =
      sent.outcome === 'wait'
        ? { kind: 'too_many_codes' as const, waitSeconds: secondsUntil(sent.until) }
        : { kind: 'sms_unavailable' as const };
    return answer.code(request, reply, flow, { error, status: sent.outcome === 'wait' ? 429 : 503 });
  });

  app.get('/auth/consent', hidden, async (request, reply) => {
    const flow = shownFlow(request, reply);
    if (!flow) return reply;
    const decision = await decideFor(deps, request, flow);
    if (decision.step.kind !== 'consent' || !decision.session) return follow(deps, reply, flow, decision);
    return answer.consent(request, reply, flow, decision.session);
  });

  app.post('/auth/consent', hidden, async (request, reply) => {
    const flow = submittedFlow(request, reply);
    if (!flow) return reply;
    const decision = await decideFor(deps, request, flow);
    if (decision.step.kind !== 'consent' || !decision.session) return follow(deps, reply, flow, decision);
    // Another tab has logged somebody else in meanwhile: they have not been asked yet.
    if (flow.consentShown?.sid !== decision.session.sid) return follow(deps, reply, flow, decision);
    const { redirectUri, state, scopes, clientId } = flow.request;
    if (fieldOf(request, 'decision') !== 'allow') {
      const error = {
        redirectUri,
        state,
        error: 'access_denied',
        description: 'The person did not consent.',
      };
      return follow(deps, reply, flow, { ...decision, step: { kind: 'error', error } });
    }
    await saveConsent(deps.db, {
      userId: decision.session.userId,
      clientId,
      scopes,
      identityDocuments: flow.consentShown.documents,
      grantedAt: deps.now(),
    });
    return follow(deps, reply, flow, await decide(deps, flow, decision.session));
  });

  /** The login that a link leads to; the answer is already sent when it leads nowhere. */
  function shownFlow(request: FastifyRequest, reply: FastifyReply): Flow | undefined {
    return checkedFlow(request, reply, queryOf(request.url).get('flow')?.[0]);
  }

  /** The same for a form, which must come from a page that this browser was shown. */
  function submittedFlow(request: FastifyRequest, reply: FastifyReply): Flow | undefined {
    const browser = knownBrowserOf(deps, request);
    if (!browser || !isCsrfTokenOf(deps, browser, fieldOf(request, 'csrf'))) {
      otherBrowser(request, reply, openFlow(deps, fieldOf(request, 'flow'), browser), 403);
      return undefined;
    }
    return checkedFlow(request, reply, fieldOf(request, 'flow'));
  }

  function checkedFlow(
    request: FastifyRequest,
    reply: FastifyReply,
    sealed: string | undefined,
  ): Flow | undefined {
    const opened = openFlow(deps, sealed, knownBrowserOf(deps, request));
    switch (opened.kind) {
      case 'ok':
        return opened.flow;
      case 'expired':
        answer.message(request, reply, 'page_expired', { status: 400, ...startAgain(request, opened.flow) });
        return undefined;
      case 'other_browser':
        otherBrowser(request, reply, opened, 400);
        return undefined;
      case 'broken':
        answer.message(request, reply, 'bad_request', { status: 400 });
        return undefined;
    }
  }

  function otherBrowser(request: FastifyRequest, reply: FastifyReply, opened: OpenedFlow, status: number) {
    const way = opened.kind === 'broken' ? {} : startAgain(request, opened.flow);
    return answer.message(request, reply, 'other_browser', { status, ...way });
  }

  /** The way on is the client's own link, with nothing of what somebody else may have typed. */
  function startAgain(request: FastifyRequest, flow: Flow) {
    return {
      language: answer.languageOf(request, flow),
      next: { label: 'start_again' as const, href: authorizationLink(deps.urls.sso, flow.request) },
    };
  }

  function send(request: FastifyRequest, flow: FlowWithPhone): Promise<Sent> {
    const language = answer.languageOf(request, flow);
    return sendCode(deps.codes, {
      phone: flow.phone,
      browserId: flow.browser,
      knownDevice: deviceKnownFor(deps, request, flow.phone),
      address: request.ip,
      clientId: flow.request.clientId,
      text: (code) => codeText(language, code, deps.urls.sso),
    });
  }

  function toCodePage(
    reply: FastifyReply,
    flow: Flow,
    phone: string,
    sent: Sent & { resendAt: Date },
    done?: 'sent_again',
  ): FastifyReply {
    const { notice: _, ...rest } = flow;
    const notice = sent.outcome === 'already_sent' ? ('already_on_its_way' as const) : done;
    const next = { ...rest, phone, resendAt: sent.resendAt.getTime(), ...(notice ? { notice } : {}) };
    return reply.redirect(answer.link('/auth/code', next), 303);
  }

  function refuseToSend(request: FastifyRequest, reply: FastifyReply, flow: Flow, phone: string, sent: Sent) {
    switch (sent.outcome) {
      case 'country_not_allowed':
        return answer.phone(request, reply, flow, {
          phone,
          error: { kind: 'country_not_served' },
          status: 400,
        });
      case 'wait':
        return answer.phone(request, reply, flow, {
          phone,
          error: { kind: 'too_many_codes', waitSeconds: secondsUntil(sent.until) },
          status: 429,
        });
      default:
        return answer.phone(request, reply, flow, { phone, error: { kind: 'sms_unavailable' }, status: 503 });
    }
  }

  function secondsUntil(at: Date): number {
    return Math.max(1, Math.ceil((at.getTime() - deps.now().getTime()) / 1000));
  }
};

/** Another tab has logged this number in meanwhile: the person has nothing left to do here. */
function isDone({ session, step }: Decision, phone: string): boolean {
  return session?.phone === phone && step.kind !== 'login';
}

function hasPhone(flow: Flow): flow is FlowWithPhone {
  return flow.phone !== undefined;
}

function fieldOf(request: FastifyRequest, name: string): string {
  return (request.body as FormFields).get(name)?.[0] ?? '';
}
