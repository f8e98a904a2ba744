import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { type FormFields, queryOf } from '../../platform/form.ts';
import { sendPage } from '../../platform/html.tsx';
import { chooseLanguage, type Language } from '../../platform/languages.ts';
import { seal, unseal } from '../../platform/seal.ts';
import { redirectWith } from '../authorization-response.ts';
import { browserOf, csrfTokenOf, isCsrfTokenOf, knownBrowserOf } from '../browser.ts';
import type { IdentityDeps } from '../deps.ts';
import type { Client } from '../domain/client.ts';
import type { UserId } from '../domain/user.ts';
import { fitsIntoAddress, openPosted, sealPosted } from '../flow.ts';
import { sessionOf } from '../login-session.ts';
import { pageAnswers, targetsOf } from '../page-answers.ts';
import { loginScript } from '../pages/login-script.ts';
import { ConfirmLogoutPage, SignedOutPage } from '../pages/logout-pages.tsx';
import { endClientSession, endSession } from '../session-end.ts';
import type { LiveSession } from '../store/live-sessions.ts';
import { type IdTokenHint, readIdTokenHint } from '../tokens.ts';
import { documentedOnly } from './openapi-parts.ts';

const optional = (description: string) => Type.Optional(Type.String({ description }));

const schema = {
  summary: 'Log a person out (browser)',
  description:
    'OpenID Connect RP-Initiated Logout. With a valid `id_token_hint` of the session the person is not asked again. The browser comes back to `post_logout_redirect_uri` with `state`.',
  tags: ['Login'],
  querystring: Type.Object({
    id_token_hint: optional('An ID token of the session; it may have expired'),
    client_id: optional('Who asks, when there is no hint'),
    post_logout_redirect_uri: optional('One that is registered for the client'),
    state: optional('Comes back unchanged'),
    logout_hint: optional('Ignored'),
    ui_locales: optional('az, en or ru'),
  }),
  response: {
    200: {
      description: 'A question, or the news that it is done',
      content: { 'text/html': { schema: Type.String() } },
    },
    303: Type.Null({ description: 'Back to the client' }),
    400: { description: 'An error page', content: { 'text/html': { schema: Type.String() } } },
  },
};

/** Where the browser goes afterwards, once it is known to be an address of the client that asks. */
type Return = { href: string; clientName: string; targets: string[] };
type Wish = { back: Return | undefined; hint: IdTokenHint | undefined; language: Language };

export const endSessionRoutes: FastifyPluginAsync<IdentityDeps> = async (app, deps) => {
  const answer = pageAnswers(deps);
  const { sso } = deps.urls;

  app.get('/auth/logout', { schema, ...documentedOnly }, async (request, reply) => {
    const query = queryOf(request.url);
    const posted = query.get('posted')?.[0];
    const parameters = posted === undefined ? query : openPosted(deps, 'logout', posted);
    if (!parameters) return answer.message(request, reply, 'page_expired', { status: 400 });
    return begin(request, reply, parameters);
  });

  app.post('/auth/logout', { schema: { hide: true } }, async (request, reply) => {
    const posted = sealPosted(deps, 'logout', request.body as FormFields);
    if (!fitsIntoAddress(posted)) return answer.message(request, reply, 'bad_request', { status: 413 });
    return reply.redirect(`${sso}/auth/logout?posted=${posted}`, 303);
  });

  app.post('/auth/logout/confirm', { schema: { hide: true } }, async (request, reply) => {
    const form = request.body as FormFields;
    const browser = knownBrowserOf(deps, request);
    if (!browser || !isCsrfTokenOf(deps, browser, form.get('csrf')?.[0] ?? '')) {
      return answer.message(request, reply, 'other_browser', { status: 403 });
    }
    const wish = openWish(browser, form.get('flow')?.[0] ?? '');
    if (!wish) return answer.message(request, reply, 'bad_request', { status: 400 });
    return finish(request, reply, wish, await sessionOf(deps, request));
  });

  async function begin(request: FastifyRequest, reply: FastifyReply, parameters: FormFields) {
    const language = chooseLanguage(parameters.get('ui_locales')?.[0], request.headers['accept-language']);
    const wish = await readWish(parameters, language);
    if (wish === 'bad_request' || wish === 'bad_redirect') {
      return answer.message(request, reply, wish, { status: 400, language });
    }
    const session = await sessionOf(deps, request);
    // Without a hint of this very session anybody could have made the link: the person is asked (ASVS 10.6.2).
    if (session && session.sid !== wish.hint?.sid) return confirm(request, reply, wish, session);
    if (!session && !wish.hint) return signedOut(reply, wish);
    return finish(request, reply, wish, session);
  }

  async function readWish(
    parameters: FormFields,
    language: Language,
  ): Promise<Wish | 'bad_request' | 'bad_redirect'> {
    if ([...parameters.values()].some((values) => values.length > 1)) return 'bad_request';
    const one = (name: string) => parameters.get(name)?.[0] || undefined;
    const hintText = one('id_token_hint');
    const hint = hintText === undefined ? undefined : await readIdTokenHint(deps.issuer, hintText);
    if (hintText !== undefined && !hint) return 'bad_request';
    const clientId = one('client_id') ?? hint?.clientId;
    if (hint && clientId !== hint.clientId) return 'bad_request';
    const client = clientId === undefined ? undefined : await deps.clients.find(clientId);
    if (clientId !== undefined && (!client || client.disabledAt)) return 'bad_request';

    const redirectUri = one('post_logout_redirect_uri');
    if (redirectUri === undefined) return { back: undefined, hint, language };
    if (!client?.postLogoutRedirectUris.includes(redirectUri)) return 'bad_redirect';
    return { back: backTo(client, redirectUri, one('state')), hint, language };
  }

  function backTo(client: Client, redirectUri: string, state: string | undefined): Return {
    const href = state === undefined ? redirectUri : redirectWith(redirectUri, { state });
    return { href, clientName: client.name, targets: targetsOf(redirectUri) };
  }

  function confirm(request: FastifyRequest, reply: FastifyReply, wish: Wish, session: LiveSession) {
    const browser = browserOf(deps, request, reply);
    const page = ConfirmLogoutPage({
      language: wish.language,
      languages: [],
      action: `${sso}/auth/logout/confirm`,
      csrf: csrfTokenOf(deps, browser),
      flow: seal(deps.keys.flow, JSON.stringify(wish), `logout ${browser}`).toString('base64url'),
      phone: session.phone,
      stayHref: wish.back?.href,
    });
    return sendPage(reply, page, { formAction: wish.back ? wish.back.targets : [], script: loginScript });
  }

  function openWish(browser: string, sealed: string): Wish | undefined {
    const opened = unseal(deps.keys.flow, Buffer.from(sealed, 'base64url'), `logout ${browser}`);
    return opened && (JSON.parse(opened.toString()) as Wish);
  }

  async function finish(
    request: FastifyRequest,
    reply: FastifyReply,
    wish: Wish,
    session: LiveSession | undefined,
  ) {
    const { hint } = wish;
    const end = { reason: 'logout', at: deps.now() } as const;
    if (session) await endSession(deps.db, { ...end, userId: session.userId as UserId, sid: session.sid });
    // The browser has another session by now, or none. A hint may have been read by others on its way, so it ends no
    // more than what the client itself could give back.
    if (hint && hint.sid !== session?.sid) {
      const part = { ...hint, ...end, userId: hint.userId as UserId };
      await deps.db.transaction((tx) => endClientSession(tx, part));
    }
    if (deps.cookies.read(request, 'session')) deps.cookies.clear(reply, 'session');
    return wish.back ? reply.redirect(wish.back.href, 303) : signedOut(reply, wish);
  }

  function signedOut(reply: FastifyReply, wish: Wish) {
    const back = wish.back && { href: wish.back.href, clientName: wish.back.clientName };
    return sendPage(reply, SignedOutPage({ language: wish.language, languages: [], back }), {
      script: loginScript,
    });
  }
};
