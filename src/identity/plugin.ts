import type { FastifyError, FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify';
import { takeForms, takeNoBody } from '../platform/bodies.ts';
import { refusalOf } from '../platform/refusal-of.ts';
import { ClientGone } from './continue-login.ts';
import type { IdentityDeps } from './deps.ts';
import { OAuthError } from './oauth-error.ts';
import { pageAnswers } from './page-answers.ts';
import { authorize } from './routes/authorize.ts';
import { discovery } from './routes/discovery.ts';
import { endSessionRoutes } from './routes/end-session.ts';
import { introspect } from './routes/introspect.ts';
import { jwks } from './routes/jwks.ts';
import { login } from './routes/login.ts';
import { logout } from './routes/logout.ts';
import { mergedHistory } from './routes/merged-history.ts';
import { revoke } from './routes/revoke.ts';
import { standardUserinfo } from './routes/standard-userinfo.ts';
import { token } from './routes/token.ts';
import { userinfo } from './routes/userinfo.ts';

/** What partners' servers call, below `BASE_URL`. */
export const identityApi: FastifyPluginAsync<IdentityDeps> = async (app, deps) => {
  await app.register(discovery, deps);
  await app.register(jwks, deps);

  await app.register(async (oauth) => {
    takeForms(oauth);
    oauth.setErrorHandler(answerInOAuthForm);
    await oauth.register(token, deps);
    await oauth.register(introspect, deps);
    await oauth.register(revoke, deps);
  });

  await app.register(async (people) => {
    takeNoBody(people);
    await people.register(userinfo, deps);
    await people.register(standardUserinfo, deps);
    await people.register(mergedHistory, deps);
    await people.register(logout, deps);
  });
};

/** What people's browsers open, below `SSO_URL`. */
export const identityPages: FastifyPluginAsync<IdentityDeps> = async (app, deps) => {
  const answer = pageAnswers(deps);
  takeForms(app);
  app.setErrorHandler((error: FastifyError, request, reply) => {
    if (error instanceof ClientGone) return answer.message(request, reply, 'unknown_client', { status: 400 });
    const refusal = refusalOf(error);
    if (refusal.status >= 500) request.log.error({ err: error }, 'a login page failed');
    return answer.message(
      request,
      reply.headers(refusal.headers),
      refusal.status >= 500 ? 'fault' : 'bad_request',
      {
        status: refusal.status,
      },
    );
  });
  await app.register(async (window) => {
    // A partner may open the login in a window of its own, and that window has to find its opener again at the end.
    window.addHook('onRequest', (_request, reply, done) => {
      reply.removeHeader('cross-origin-opener-policy');
      done();
    });
    await window.register(authorize, deps);
    await window.register(login, deps);
  });
  await app.register(endSessionRoutes, deps);
};

function answerInOAuthForm(error: FastifyError | OAuthError, request: FastifyRequest, reply: FastifyReply) {
  const { status, code, description, headers } = oauthFormOf(error);
  if (status >= 500) request.log[status === 503 ? 'warn' : 'error']({ err: error }, 'a token call failed');
  return reply
    .code(status)
    .headers({ 'cache-control': 'no-store', pragma: 'no-cache', ...headers })
    .type('application/json')
    .serializer(JSON.stringify)
    .send({ error: code, error_description: description });
}

function oauthFormOf(error: FastifyError | OAuthError) {
  if (error instanceof OAuthError) {
    return { status: error.status, code: error.error, description: error.message, headers: error.headers };
  }
  const refusal = refusalOf(error);
  const description = refusal.detail ?? refusal.title;
  const code =
    refusal.status === 503
      ? 'temporarily_unavailable'
      : refusal.status >= 500
        ? 'server_error'
        : 'invalid_request';
  return { status: refusal.status, code, description, headers: refusal.headers };
}
