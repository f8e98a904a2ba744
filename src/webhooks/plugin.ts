import type { FastifyPluginAsync, FastifyRequest } from 'fastify';
import { takeNoBody, takeOptionalJson } from '../platform/bodies.ts';
import type { WebhookDeps } from './deps.ts';
import { changeEndpointRoute } from './routes/change-endpoint.ts';
import { createEndpointRoute } from './routes/create-endpoint.ts';
import { deleteEndpointRoute } from './routes/delete-endpoint.ts';
import { listDeliveriesRoute } from './routes/list-deliveries.ts';
import { listEndpointsRoute } from './routes/list-endpoints.ts';
import { readEndpointRoute } from './routes/read-endpoint.ts';
import { replayEventsRoute } from './routes/replay-events.ts';
import { rotateSecretRoute } from './routes/rotate-secret.ts';
import { testEndpointRoute } from './routes/test-endpoint.ts';

/** Who is calling was settled by whoever registers these routes. */
export type WebhookRouteDeps = WebhookDeps & { merchantOf: (request: FastifyRequest) => string };

/** What merchants' servers call to be told of events, below `CHECKOUT_BASE_URL`. */
export const webhooks: FastifyPluginAsync<WebhookRouteDeps> = async (app, deps) => {
  await app.register(createEndpointRoute, deps);
  await app.register(listEndpointsRoute, deps);
  await app.register(readEndpointRoute, deps);
  await app.register(changeEndpointRoute, deps);
  await app.register(listDeliveriesRoute, deps);
  await app.register(replayEventsRoute, deps);
  await app.register(async (lenient) => {
    takeOptionalJson(lenient);
    await lenient.register(rotateSecretRoute, deps);
  });
  await app.register(async (plain) => {
    takeNoBody(plain);
    await plain.register(deleteEndpointRoute, deps);
    await plain.register(testEndpointRoute, deps);
  });
};
