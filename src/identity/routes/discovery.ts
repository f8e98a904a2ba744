import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import { languages } from '../../platform/languages.ts';
import type { IdentityDeps } from '../deps.ts';
import { algorithms } from '../domain/algorithm.ts';
import { acr, prompts } from '../domain/authorization-request.ts';
import { grantTypes, merchantScopes, personScopes } from '../domain/client.ts';

const schema = {
  summary: 'Metadata for client libraries',
  tags: ['Discovery'],
  response: { 200: Type.Object({ issuer: Type.String() }, { additionalProperties: true }) },
};

/** OpenID Connect Discovery and RFC 8414: one document, at both addresses. It lists only what works. */
export const discovery: FastifyPluginAsyncTypebox<IdentityDeps> = async (app, deps) => {
  const { base, sso } = deps.urls;
  const methods = ['client_secret_basic', 'client_secret_post'];
  const document = {
    issuer: base,
    authorization_endpoint: `${sso}/auth/ssoValidateUser`,
    token_endpoint: `${base}/api/v2/openid-connect/token`,
    userinfo_endpoint: `${base}/api/v2/openid-connect/userinfo`,
    jwks_uri: `${base}/api/v1/openid-connect/jwks`,
    introspection_endpoint: `${base}/api/v1/openid-connect/introspect`,
    revocation_endpoint: `${base}/api/v1/openid-connect/revoke`,
    end_session_endpoint: `${sso}/auth/logout`,
    service_documentation: `${base}/swagger-ui/index.html`,
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: [...grantTypes],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: [...algorithms],
    scopes_supported: [...personScopes, ...merchantScopes],
    claims_supported: [
      ...['iss', 'sub', 'aud', 'exp', 'iat', 'auth_time', 'nonce', 'acr', 'amr', 'azp', 'at_hash', 'sid'],
      ...[
        'name',
        'given_name',
        'family_name',
        'middle_name',
        'preferred_username',
        'picture',
        'gender',
        'birthdate',
      ],
      ...['updated_at', 'phone_number', 'phone_number_verified'],
    ],
    claim_types_supported: ['normal'],
    acr_values_supported: [acr],
    prompt_values_supported: [...prompts],
    ui_locales_supported: [...languages],
    token_endpoint_auth_methods_supported: methods,
    introspection_endpoint_auth_methods_supported: methods,
    revocation_endpoint_auth_methods_supported: methods,
    code_challenge_methods_supported: ['S256'],
    authorization_response_iss_parameter_supported: true,
    backchannel_logout_supported: true,
    backchannel_logout_session_supported: true,
    claims_parameter_supported: false,
    request_parameter_supported: false,
    request_uri_parameter_supported: false,
    require_request_uri_registration: false,
  };
  for (const url of ['/.well-known/openid-configuration', '/.well-known/oauth-authorization-server']) {
    app.get(url, { schema }, async (_request, reply) =>
      reply
        .headers({ 'cache-control': 'public, max-age=300', 'access-control-allow-origin': '*' })
        .send(document),
    );
  }
};
