import { Type } from 'typebox';
import { nullable, TimeJson, textJson } from '../../platform/openapi.ts';

/** Where the events go. What a URL parser would drop or turn round on the way is refused. */
export const UrlJson = Type.String({
  minLength: 1,
  maxLength: 2048,
  pattern: '^[^\\u0000-\\u0020\\u007f\\\\\\ud800-\\udfff]+$',
  description: 'https; the address of a server that the public can reach',
});
export const EventsJson = Type.Array(Type.String({ maxLength: 64 }), {
  minItems: 1,
  maxItems: 20,
  description: 'Types of events, `payment.*`, `refund.*`, or `*` for all',
});
export const DescriptionJson = nullable(textJson({ maxLength: 128 }));

const endpointFields = {
  id: Type.String({ format: 'uuid' }),
  url: Type.String(),
  events: Type.Array(Type.String()),
  description: nullable(Type.String()),
  status: Type.String({ enum: ['enabled', 'disabled'] }),
  disabledReason: nullable(
    Type.String({
      enum: ['requested', 'gone', 'failing'],
      description: 'gone: the receiver answered 410; failing: nothing was taken for three days',
    }),
  ),
  disabledAt: nullable(TimeJson),
  failingSince: nullable(
    Type.String({ format: 'date-time', description: 'The first failure since the last success' }),
  ),
  previousSecretExpiresAt: nullable(TimeJson),
  createdAt: TimeJson,
};

const endpointExample = {
  id: '0199d3a2-1f00-7a11-8c3d-2b6e4f8a1c01',
  url: 'https://shop.example.com/webhooks',
  events: ['payment.*', 'refund.succeeded'],
  description: null,
  status: 'enabled',
  disabledReason: null,
  disabledAt: null,
  failingSince: null,
  previousSecretExpiresAt: null,
  createdAt: '2026-01-22T14:31:02.345Z',
};

export const EndpointJson = Type.Object(endpointFields, { examples: [endpointExample] });
export const EndpointWithSecretJson = Type.Object(
  {
    ...endpointFields,
    secret: Type.String({ description: 'Verifies signatures. It is shown here and never again' }),
  },
  { examples: [{ ...endpointExample, secret: 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oDhWd5xVbtQVE=' }] },
);

export const DeliveryJson = Type.Object(
  {
    id: Type.String({ format: 'uuid' }),
    eventId: Type.String({ format: 'uuid' }),
    type: Type.String(),
    attempt: Type.Integer(),
    at: TimeJson,
    result: Type.String({ enum: ['delivered', 'failed', 'given_up'] }),
    responseStatus: nullable(Type.Integer()),
    responseBody: nullable(Type.String({ description: 'The first kilobyte' })),
    durationMs: Type.Integer(),
    detail: nullable(Type.String()),
    nextAttemptAt: nullable(TimeJson),
  },
  {
    examples: [
      {
        id: '0199d3a2-6a10-7c44-8e21-9a0b1c2d3e4f',
        eventId: '0199d3a2-5c1e-7b60-9f0e-3d1c5a7b9e02',
        type: 'payment.succeeded',
        attempt: 2,
        at: '2026-01-22T14:31:07.912Z',
        result: 'failed',
        responseStatus: 500,
        responseBody: 'out of order',
        durationMs: 84,
        detail: 'The receiver answered 500.',
        nextAttemptAt: '2026-01-22T14:36:31.004Z',
      },
    ],
  },
);
