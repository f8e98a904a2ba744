import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import { languages } from '../../platform/languages.ts';
import { merchantSecurity, problems, textJson } from '../../platform/openapi.ts';
import { Refusal } from '../../platform/problem.ts';
import { currentPayment } from '../cancel.ts';
import type { CheckoutDeps } from '../deps.ts';
import type { Money } from '../domain/money.ts';
import type { PaymentId, Pending } from '../domain/payment.ts';
import { refuse } from '../errors.ts';
import { paymentEvent } from '../events.ts';
import { answerOnce, callOf, idempotencyKeyOf, send } from '../idempotency.ts';
import { paymentAnswer, paymentJson } from '../present.ts';
import { insertPaymentOnce, keyInUse } from '../store/idempotency.ts';
import type { Merchant } from '../store/merchants.ts';
import { moneyOf } from './amounts.ts';
import { KeyHeaders, MetadataJson, MoneyJson, PaymentJson } from './json.ts';

const schema = {
  summary: 'Create a payment',
  description: 'Send the customer to `confirmation.confirmationUrl`. Needs the header `X-Idempotency-Key`.',
  tags: ['Payments'],
  security: merchantSecurity,
  headers: KeyHeaders,
  body: Type.Object(
    {
      merchantId: Type.String({
        pattern: '^[A-Za-z0-9_-]{1,15}$',
        description: '1 to 15 letters, digits, _ or -',
      }),
      terminalId: Type.String({ pattern: '^[A-Za-z0-9]{1,8}$', description: '1 to 8 letters or digits' }),
      amount: MoneyJson,
      confirmation: Type.Object(
        {
          type: Type.Literal('REDIRECT'),
          // What a URL parser would drop or turn round on the way is refused: the shop gets back what it sent.
          returnUrl: Type.String({
            maxLength: 2048,
            pattern: '^[^\\u0000-\\u0020\\u007f\\\\\\ud800-\\udfff]+$',
            description: 'The address the customer goes back to, without spaces and backslashes',
          }),
          locale: Type.Optional(Type.Enum([...languages], { type: 'string' })),
        },
        { additionalProperties: false },
      ),
      capture: Type.Optional(Type.Boolean({ description: 'false holds the money for a later capture' })),
      description: Type.Optional(textJson({ maxLength: 128 })),
      merchantOrderId: Type.Optional(textJson({ minLength: 1, maxLength: 64 })),
      expiresIn: Type.Optional(
        Type.Integer({ minimum: 60, maximum: 86400, description: 'Seconds; 3600 by default' }),
      ),
      metadata: Type.Optional(MetadataJson),
    },
    {
      additionalProperties: false,
      examples: [
        {
          merchantId: 'DEMOMERCHANT001',
          terminalId: 'DEMOTRM1',
          amount: { value: '100.00', currency: 'AZN' },
          confirmation: { type: 'REDIRECT', returnUrl: 'http://localhost:4000/thanks' },
          description: 'Order 1001',
        },
      ],
    },
  ),
  response: { 200: PaymentJson, ...problems },
};

const defaultLifeSeconds = 3600;

export const createPaymentRoute: FastifyPluginAsyncTypebox<CheckoutDeps> = async (app, deps) => {
  app.post(
    '/v1/payments',
    { schema, preValidation: async (request) => void idempotencyKeyOf(request) },
    async (request, reply) => {
      const { merchant, body } = request;
      if (body.merchantId !== merchant.merchantId) {
        throw refuse('merchant_not_allowed', undefined, {
          errors: [{ pointer: '/merchantId', detail: `It must be ${merchant.merchantId}.` }],
        });
      }
      const call = callOf(request, merchant.merchantId, 'create_payment');
      // Only when a rule refuses is it looked up first what this key led to before.
      const checked = attempt(() => check(merchant, body));
      if (checked instanceof Refusal) {
        return answerOnce(deps, request, reply, call, async (former) => {
          if (!former) throw checked;
          return present(former.objectId);
        });
      }
      const at = deps.now();
      const payment: Pending = {
        merchantId: merchant.merchantId,
        id: deps.newId() as PaymentId,
        terminalId: body.terminalId,
        amount: checked,
        capture: body.capture ?? true,
        description: body.description ?? null,
        merchantOrderId: body.merchantOrderId ?? null,
        metadata: body.metadata ?? {},
        returnUrl: body.confirmation.returnUrl,
        locale: body.confirmation.locale ?? null,
        createdAt: at,
        expiresAt: new Date(at.getTime() + (body.expiresIn ?? defaultLifeSeconds) * 1000),
        extensions: 0,
        attempts: 0,
        lastAttempt: null,
        test: deps.test,
        version: 1,
        status: 'pending',
        openAttemptId: null,
      };
      const text = JSON.stringify(paymentJson(deps, payment));
      const created = await insertPaymentOnce(
        deps.db,
        call,
        payment,
        paymentEvent(deps, null, payment, at),
        text,
      );
      if (created) return send(reply, { status: 200, body: text });
      return answerOnce(deps, request, reply, call, async (former) => {
        if (!former) throw keyInUse();
        return present(former.objectId);
      });

      async function present(id: string) {
        const former = await currentPayment(deps, merchant.merchantId, id as PaymentId);
        if (!former) throw new Error(`key of payment ${id} without its payment`);
        return { ...paymentAnswer(deps, former), replayed: true as const };
      }
    },
  );
};

type Wish = {
  terminalId: string;
  amount: { value: string; currency: string };
  confirmation: { returnUrl: string };
};

/** The rules of a new payment, in the order in which they are answered. */
function check(merchant: Merchant, wish: Wish): Money {
  const amount = moneyOf(wish.amount);
  const terminal = merchant.terminals.find((one) => one.terminalId === wish.terminalId);
  if (!terminal) {
    throw refuse('terminal_not_allowed', undefined, {
      errors: [{ pointer: '/terminalId', detail: 'It must be a terminal of the merchant that is in use.' }],
    });
  }
  if (!terminal.currencies.includes(amount.currency)) {
    throw refuse(
      'currency_not_supported',
      `Terminal ${terminal.terminalId} takes ${terminal.currencies.join(', ')}.`,
    );
  }
  const url = URL.canParse(wish.confirmation.returnUrl) ? new URL(wish.confirmation.returnUrl) : undefined;
  const plain = url && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '';
  if (!plain || !merchant.returnUrlOrigins.includes(url.origin)) {
    throw refuse('return_url_not_allowed', undefined, {
      errors: [
        { pointer: '/confirmation/returnUrl', detail: 'Its origin is not registered for the merchant.' },
      ],
    });
  }
  return amount;
}

function attempt<Result>(run: () => Result): Result | Refusal {
  try {
    return run();
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
}
