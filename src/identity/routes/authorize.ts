import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify';
import { type FormFields, queryOf } from '../../platform/form.ts';
import { chooseLanguage } from '../../platform/languages.ts';
import { browserOf } from '../browser.ts';
import { decideFor, follow, sendBack } from '../continue-login.ts';
import type { IdentityDeps } from '../deps.ts';
import { checkAuthorizationRequest, type PageError } from '../domain/authorization-request.ts';
import { fitsIntoAddress, openPosted, sealFlow, sealPosted } from '../flow.ts';
import { pageAnswers } from '../page-answers.ts';
import type { MessageKind } from '../pages/texts.ts';
import { authorizeSchema } from './authorize-schema.ts';
import { documentedOnly } from './openapi-parts.ts';

const messages: Record<PageError, MessageKind> = {
  client_unknown: 'unknown_client',
  redirect_uri_invalid: 'bad_redirect',
  parameter_repeated: 'bad_request',
  state_too_long: 'bad_request',
};

/** Where partners send people. A person with a live session is sent back at once: that is the single sign-on. */
export const authorize: FastifyPluginAsync<IdentityDeps> = async (app, deps) => {
  const answer = pageAnswers(deps);

  app.get('/auth/ssoValidateUser', { schema: authorizeSchema, ...documentedOnly }, async (request, reply) => {
    const query = queryOf(request.url);
    const posted = query.get('posted')?.[0];
    if (posted === undefined) return begin(request, reply, query);
    const form = openPosted(deps, 'authorize', posted);
    if (form === undefined) return answer.message(request, reply, 'page_expired', { status: 400 });
    return begin(request, reply, form);
  });

  app.post('/auth/ssoValidateUser', { schema: { hide: true } }, async (request, reply) => {
    // A form on another site brings none of our cookies; the redirect does, so the session is seen.
    const posted = sealPosted(deps, 'authorize', request.body as FormFields);
    if (!fitsIntoAddress(posted)) return answer.message(request, reply, 'bad_request', { status: 413 });
    return reply.redirect(`${deps.urls.sso}/auth/ssoValidateUser?posted=${posted}`, 303);
  });

  async function begin(request: FastifyRequest, reply: FastifyReply, parameters: FormFields) {
    const clientId = parameters.get('client_id')?.[0];
    const client = clientId === undefined ? undefined : await deps.clients.find(clientId);
    const checked = checkAuthorizationRequest(parameters, client, {
      nonceInsteadOfPkce: deps.config.env === 'dmz' || deps.config.env === 'production',
    });
    if (checked.kind === 'page_error') {
      const language = chooseLanguage(parameters.get('ui_locales')?.[0], request.headers['accept-language']);
      return answer.message(request, reply, messages[checked.error], { status: 400, language });
    }
    if (checked.kind === 'redirect_error') return sendBack(deps, reply, checked.error);

    const flow = {
      request: checked.request,
      startedAt: deps.now().getTime(),
      browser: browserOf(deps, request, reply),
    };
    const decision = await decideFor(deps, request, flow);
    const needsPages = decision.step.kind === 'login' || decision.step.kind === 'consent';
    if (needsPages && !fitsIntoAddress(sealFlow(deps, flow)))
      return answer.message(request, reply, 'bad_request', { status: 400 });
    if (decision.step.kind === 'login') return answer.phone(request, reply, flow);
    return follow(deps, reply, flow, decision);
  }
};
