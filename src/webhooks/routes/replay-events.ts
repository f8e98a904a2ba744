import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import { IdParams, merchantSecurity, problems } from '../../platform/openapi.ts';
import { commonRefusals, refuserOf } from '../../platform/problem.ts';
import { uuid7Form } from '../../platform/uuid7.ts';
import { refuse as refuseReplay } from '../errors.ts';
import type { WebhookRouteDeps } from '../plugin.ts';
import { type ReplayWish, replay } from '../replay.ts';
import { callerOf, endpointIdOf } from './caller.ts';

const refuse = refuserOf(commonRefusals);

const schema = {
  summary: 'Send events again',
  description:
    'One event by its `eventId`, or all that the endpoint wants from `from` up to, but not including, `to` (now by default); 10,000 at most. It reaches a minute further back than `from`, because an event bears the time at which the work on its payment began. They keep their ids.',
  tags: ['Webhooks'],
  security: merchantSecurity,
  params: IdParams,
  body: Type.Object(
    {
      eventId: Type.Optional(Type.String({ maxLength: 64 })),
      from: Type.Optional(Type.String({ format: 'date-time', description: 'A time of RFC 3339' })),
      to: Type.Optional(
        Type.String({ format: 'date-time', description: 'A time of RFC 3339, up to but not including' }),
      ),
    },
    {
      additionalProperties: false,
      examples: [{ from: '2026-01-22T00:00:00Z', to: '2026-01-23T00:00:00Z' }],
    },
  ),
  response: { 202: Type.Object({ queued: Type.Integer() }, { examples: [{ queued: 12 }] }), ...problems },
};

export const replayEventsRoute: FastifyPluginAsyncTypebox<WebhookRouteDeps> = async (app, deps) => {
  app.post('/v1/webhook-endpoints/:id/replay', { schema }, async (request, reply) => {
    const { owner, actor } = callerOf(deps, request);
    const id = endpointIdOf(request);
    const queued = await replay(deps, owner, id, wishOf(request.body, deps.now()), actor);
    return reply.status(202).send({ queued });
  });
};

function wishOf(body: { eventId?: string; from?: string; to?: string }, now: Date): ReplayWish {
  const { eventId, from, to } = body;
  if (eventId !== undefined) {
    if (from !== undefined || to !== undefined) {
      throw wrong('/eventId', 'Give either `eventId`, or `from` and `to`.');
    }
    if (!uuid7Form.test(eventId)) throw refuseReplay('event_not_found');
    return { eventId };
  }
  if (from === undefined) throw wrong('/from', 'Give either `eventId`, or `from` and `to`.');
  const range = { from: timeOf('/from', from), to: to === undefined ? now : timeOf('/to', to) };
  if (range.to <= range.from) throw wrong('/to', 'It must be later than `from`.');
  return range;
}

/** RFC 3339 knows leap seconds, JavaScript does not. */
function timeOf(pointer: string, text: string): Date {
  const time = new Date(text);
  if (Number.isNaN(time.getTime())) throw wrong(pointer, 'It is not a time that we can tell.');
  return time;
}

function wrong(pointer: string, detail: string) {
  return refuse('invalid_request', 'See `errors` for each fault.', { errors: [{ pointer, detail }] });
}
