import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import type { IdentityDeps } from '../deps.ts';

const schema = {
  summary: 'Public keys',
  description:
    'A new key stands here well before it signs, and a former one until its last token has expired.',
  tags: ['Discovery'],
  response: {
    200: Type.Object({ keys: Type.Array(Type.Object({}, { additionalProperties: true })) }),
    304: Type.Null({ description: 'Not changed' }),
  },
};

export const jwks: FastifyPluginAsyncTypebox<IdentityDeps> = async (app, deps) => {
  app.get('/api/v1/openid-connect/jwks', { schema }, async (request, reply) => {
    const { body, etag } = deps.issuer.keyring.keySet();
    reply.headers({ 'cache-control': 'public, max-age=300', etag, 'access-control-allow-origin': '*' });
    if (isHeld(request.headers['if-none-match'], etag)) return reply.code(304).send(undefined as never);
    return reply
      .type('application/json')
      .serializer(String)
      .send(body as never);
  });
};

/** RFC 9110, 13.1.2: it is a list, and a proxy that compresses may have weakened our tag in it. */
function isHeld(tags: string | undefined, etag: string): boolean {
  return tags?.split(',').some((tag) => ['*', etag, `W/${etag}`].includes(tag.trim())) ?? false;
}
