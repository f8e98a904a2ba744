import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import type { FormFields } from '../../platform/form.ts';
import { authenticateClient, single } from '../client-authentication.ts';
import type { IdentityDeps } from '../deps.ts';
import { type Client, type GrantType, grantTypes } from '../domain/client.ts';
import { authorizationCodeGrant } from '../grants/authorization-code.ts';
import { clientCredentialsGrant } from '../grants/client-credentials.ts';
import { refreshTokenGrant } from '../grants/refresh-token.ts';
import type { TokenAnswer } from '../grants/token-answer.ts';
import { OAuthError } from '../oauth-error.ts';
import { clientSecurity, documentedOnly, OAuthErrorJson } from './openapi-parts.ts';

const schema = {
  summary: 'Get tokens',
  description:
    'Exchanges an authorization code or a refresh token, or gives a client a token of its own. The client authenticates in the form or by HTTP Basic, not by both.',
  tags: ['Tokens'],
  security: clientSecurity,
  consumes: ['application/x-www-form-urlencoded'],
  body: Type.Object(
    {
      grant_type: Type.Union(grantTypes.map((type) => Type.Literal(type))),
      client_id: Type.Optional(Type.String()),
      client_secret: Type.Optional(Type.String()),
      code: Type.Optional(Type.String({ description: 'with authorization_code' })),
      redirect_uri: Type.Optional(Type.String({ description: 'with authorization_code' })),
      code_verifier: Type.Optional(Type.String({ description: 'with authorization_code' })),
      refresh_token: Type.Optional(Type.String({ description: 'with refresh_token' })),
      scope: Type.Optional(Type.String({ description: 'with refresh_token or client_credentials' })),
    },
    {
      examples: [
        {
          grant_type: 'client_credentials',
          client_id: 'demo-merchant',
          client_secret: 'demo-merchant-secret',
        },
      ],
    },
  ),
  response: {
    200: Type.Object(
      {
        access_token: Type.String(),
        expires_in: Type.Integer(),
        refresh_token: Type.Optional(Type.String()),
        refresh_expires_in: Type.Integer(),
        id_token: Type.Optional(Type.String()),
        token_type: Type.Literal('Bearer'),
        scope: Type.String(),
        session_state: Type.Optional(Type.String({ format: 'uuid' })),
      },
      {
        examples: [
          {
            access_token: 'eyJhbGciOiJFUzI1NiIs…',
            expires_in: 300,
            refresh_token: 'C28rHowKT46da1occfAAAQ…',
            refresh_expires_in: 1800,
            id_token: 'eyJhbGciOiJFUzI1NiIs…',
            token_type: 'Bearer',
            scope: 'openid profile',
            session_state: '8d3d7a34-0a4b-4f4c-9d55-2a9f4f6f1c11',
          },
        ],
      },
    ),
    400: OAuthErrorJson,
    401: OAuthErrorJson,
    429: OAuthErrorJson,
    503: OAuthErrorJson,
  },
};

type Grant = (deps: IdentityDeps, client: Client, form: FormFields) => TokenAnswer | Promise<TokenAnswer>;

const grants: Record<GrantType, Grant> = {
  authorization_code: authorizationCodeGrant,
  refresh_token: refreshTokenGrant,
  client_credentials: clientCredentialsGrant,
};

export const token: FastifyPluginAsyncTypebox<IdentityDeps> = async (app, deps) => {
  app.post('/api/v2/openid-connect/token', { schema, ...documentedOnly }, async (request) => {
    const form = request.body as unknown as FormFields;
    const client = await authenticateClient(deps, request, form);
    const asked = single(form, 'grant_type');
    if (!asked) throw new OAuthError('invalid_request', 'grant_type is required.');
    const grantType = grantTypes.find((type) => type === asked);
    if (!grantType) throw new OAuthError('unsupported_grant_type');
    if (!client.grantTypes.includes(grantType)) throw new OAuthError('unauthorized_client');
    return grants[grantType](deps, client, form);
  });
};
