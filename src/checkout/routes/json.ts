import { Type } from 'typebox';
import { nullable, TimeJson, textJson } from '../../platform/openapi.ts';

/** For the documentation: the handler checks it before the body is looked at, and says what is wrong in its own words. */
export const KeyHeaders = Type.Object({
  'x-idempotency-key': Type.Optional(
    Type.String({
      description:
        'Required. Chosen by you, one for each thing you want done: 1 to 255 visible ASCII characters',
      examples: ['6f1c0a3e-2b7d-4c58-9a51-0d3f6b7e8c90'],
    }),
  ),
});

/** The digits are checked once the currency is known. */
export const MoneyJson = Type.Object(
  {
    value: Type.String({
      pattern: '^[0-9]{1,12}(\\.[0-9]{1,4})?$',
      maxLength: 17,
      description: 'Decimal text, such as 100.00',
    }),
    currency: Type.String({
      pattern: '^[A-Z]{3}$',
      description: 'Three capital letters of ISO 4217, such as AZN',
    }),
  },
  { additionalProperties: false, examples: [{ value: '100.00', currency: 'AZN' }] },
);

export const MetadataJson = Type.Record(
  Type.String({ pattern: '^[^\\u0000-\\u001f\\u007f\\ud800-\\udfff]{1,32}$' }),
  textJson({ maxLength: 512 }),
  { maxProperties: 16, additionalProperties: false },
);

export const PaymentJson = Type.Object({
  id: Type.String({ format: 'uuid' }),
  status: Type.String({ enum: ['pending', 'waiting_for_capture', 'succeeded', 'canceled'] }),
  merchantId: Type.String(),
  terminalId: Type.String(),
  amount: MoneyJson,
  capturedAmount: MoneyJson,
  refundedAmount: MoneyJson,
  refundableAmount: MoneyJson,
  paid: Type.Boolean(),
  refundable: Type.Boolean(),
  capture: Type.Boolean(),
  confirmation: Type.Object({
    type: Type.Literal('REDIRECT'),
    confirmationUrl: Type.String(),
    returnUrl: Type.String(),
    locale: nullable(Type.String()),
  }),
  paymentMethod: nullable(Type.Object({ type: Type.String() }, { additionalProperties: true })),
  authorization: nullable(Type.Object({}, { additionalProperties: true })),
  lastAttempt: nullable(
    Type.Object({ status: Type.String(), reason: nullable(Type.String()), at: TimeJson }),
  ),
  cancellationDetails: nullable(Type.Object({ party: Type.String(), reason: Type.String() })),
  description: nullable(Type.String()),
  merchantOrderId: nullable(Type.String()),
  metadata: Type.Record(Type.String(), Type.String()),
  createdAt: TimeJson,
  expiresAt: TimeJson,
  authorizedAt: nullable(TimeJson),
  capturedAt: nullable(TimeJson),
  canceledAt: nullable(TimeJson),
  test: Type.Boolean(),
  version: Type.Integer(),
});

export const RefundJson = Type.Object({
  id: Type.String({ format: 'uuid' }),
  paymentId: Type.String({ format: 'uuid' }),
  merchantId: Type.String(),
  terminalId: Type.String(),
  status: Type.String({ enum: ['pending', 'succeeded', 'canceled'] }),
  amount: MoneyJson,
  reason: nullable(Type.String()),
  description: nullable(Type.String()),
  metadata: Type.Record(Type.String(), Type.String()),
  cancellationDetails: nullable(Type.Object({ party: Type.String(), reason: Type.String() })),
  authorization: nullable(Type.Object({ rrn: nullable(Type.String()) })),
  createdAt: TimeJson,
  settledAt: nullable(TimeJson),
  test: Type.Boolean(),
  version: Type.Integer(),
});

/** The object in `data` is a payment or a refund as it stood then; later versions of the API may add to it. */
export const EventJson = Type.Object(
  {
    id: Type.String({ format: 'uuid' }),
    type: Type.String(),
    timestamp: TimeJson,
    apiVersion: Type.String(),
    merchantId: Type.String(),
    test: Type.Boolean(),
    sequence: Type.Integer(),
    data: Type.Object(
      {
        object: Type.Object({}, { additionalProperties: true }),
        previousStatus: nullable(Type.String()),
      },
      { additionalProperties: true },
    ),
  },
  {
    additionalProperties: true,
    examples: [
      {
        id: '0199d3a2-5c1e-7b60-9f0e-3d1c5a7b9e02',
        type: 'payment.succeeded',
        timestamp: '2026-01-22T14:31:02.345Z',
        apiVersion: '2026-11-01',
        merchantId: 'DEMOMERCHANT001',
        test: true,
        sequence: 3,
        data: {
          object: { id: '0199d3a2-1f00-7a11-8c3d-2b6e4f8a1c01', status: 'succeeded', version: 3 },
          previousStatus: 'pending',
        },
      },
    ],
  },
);
