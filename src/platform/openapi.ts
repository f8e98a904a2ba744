import swagger from '@fastify/swagger';
import type { FastifyInstance } from 'fastify';

/** The document at `/api/openapi.json` is made from the schemas that also check the requests. */
export async function describeApi(
  app: FastifyInstance,
  options: { version: string; baseUrl: string },
): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Tollgate',
        version: options.version,
        description: 'Single sign-on by phone number, and payments. Every answer carries `X-Request-Id`.',
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      },
      servers: [{ url: new URL(options.baseUrl).origin }],
      components: {
        securitySchemes: {
          bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT', description: 'An access token' },
          clientBasic: { type: 'http', scheme: 'basic', description: 'Client id and secret' },
        },
      },
      externalDocs: { description: 'Every error code', url: `${options.baseUrl}/docs/errors` },
    },
  });
}
