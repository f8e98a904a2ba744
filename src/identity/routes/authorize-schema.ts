import { Type } from 'typebox';

const optional = (description: string) => Type.Optional(Type.String({ description }));

/** For the API reference only: the request is checked by the ladder in the domain. */
export const authorizeSchema = {
  summary: 'Log a person in (browser)',
  description:
    'Send the browser here. It comes back to `redirect_uri` with `state`, `session_state`, `code` and `iss`, or with `error`. Compare `state` with what you sent, and `iss` with the issuer.',
  tags: ['Login'],
  querystring: Type.Object({
    response_type: Type.Literal('code'),
    client_id: Type.String({ examples: ['demo-partner'] }),
    scope: Type.String({
      description: 'Space-separated; must include openid',
      examples: ['openid profile phone'],
    }),
    state: Type.String({ maxLength: 2048 }),
    redirect_uri: Type.String({ examples: ['http://localhost:4000/callback'] }),
    code_challenge: Type.String({ description: 'base64url of the SHA-256 of the code verifier' }),
    code_challenge_method: Type.Literal('S256'),
    nonce: optional('Comes back in the ID token'),
    login_hint: optional('A phone number to prefill'),
    ui_locales: optional('az, en or ru; the first that is supported wins'),
    prompt: optional('none, login, consent, select_account'),
    max_age: optional('Seconds since the last login that are still good enough'),
    acr_values: optional('Only urn:tollgate:otp-sms is offered'),
    id_token_hint: optional('Whom you expect; somebody else has to log in anew'),
    display: optional('Ignored'),
    claims_locales: optional('Ignored'),
  }),
  response: {
    200: { description: 'The login page', content: { 'text/html': { schema: Type.String() } } },
    303: Type.Null({ description: 'Back to the client' }),
    400: {
      description: 'An error page: the client or its address is not known, so nothing is sent anywhere',
      content: { 'text/html': { schema: Type.String() } },
    },
  },
};
