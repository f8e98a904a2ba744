import { randomUUID } from 'node:crypto';
import { type Static, type TSchema, Type } from 'typebox';
import { Value } from 'typebox/value';
import { parseJson } from '../../platform/json.ts';
import type { Logger } from '../../platform/log.ts';
import { lookUpBySystem } from '../../platform/name-lookup.ts';
import { callOutgoing, OutgoingFailed, OutgoingRefused, type Resolve } from '../../platform/outgoing.ts';
import { keyOfText, signedHeaders } from '../../platform/standard-webhooks.ts';
import {
  type Acquirer,
  type AuthorizeCall,
  type AuthorizeOutcome,
  declineReasons,
  type Inquiry,
  type Lost,
  type OperationCall,
  type OperationOutcome,
} from '../domain/acquirer.ts';
import { formatMoney, type Money } from '../domain/money.ts';

export type HttpAcquirerOptions = {
  /** The calls are posted below it: `{url}/authorize`. */
  url: string;
  secret: string;
  /** Bounds one call as a whole, from the connection to the answer. */
  timeoutMs: number;
  now: () => Date;
  log: Logger;
  /** For tests: how names are looked up. */
  resolve?: Resolve;
};

type MoneyJson = { value: string; currency: string };

/**
 * What the gateway gets. `call` repeats the last part of the address, which the signature does not cover: without
 * it a capture that somebody had recorded would be a valid refund. See docs/acquirer-gateway.md.
 */
export type GatewayRequest =
  | {
      call: 'authorize';
      reference: string;
      merchantId: string;
      terminalId: string;
      amount: MoneyJson;
      capture: boolean;
      returnUrl: string;
      card: {
        number: string;
        expiryMonth: number;
        expiryYear: number;
        securityCode: string;
        holder: string;
      };
    }
  | { call: 'complete'; reference: string; merchantId: string }
  | {
      call: 'capture' | 'reverse' | 'refund';
      reference: string;
      authorization: string;
      merchantId: string;
      amount: MoneyJson;
    }
  | { call: 'inquire'; about: 'authorization' | 'operation'; reference: string; merchantId: string };

const strict = { additionalProperties: false };
const Reason = Type.Union(declineReasons.map((reason) => Type.Literal(reason)));
const Rrn = Type.String({ pattern: '^[A-Za-z0-9]{1,12}$' });
const Failed = Type.Object({ outcome: Type.Literal('failed') }, strict);
const Unknown = Type.Object({ outcome: Type.Literal('unknown') }, strict);
const Declined = Type.Object({ outcome: Type.Literal('declined'), reason: Reason }, strict);
const Refused = Type.Object({ outcome: Type.Literal('refused'), reason: Reason }, strict);

const AuthorizeAnswer = Type.Union([
  Type.Object(
    {
      outcome: Type.Literal('approved'),
      rrn: Rrn,
      authCode: Type.String({ pattern: '^[A-Za-z0-9]{1,6}$' }),
      threeDSecure: Type.Boolean(),
    },
    strict,
  ),
  Type.Object(
    { outcome: Type.Literal('challenge'), url: Type.String({ minLength: 1, maxLength: 2000 }) },
    strict,
  ),
  Declined,
  Failed,
  Unknown,
]);

const OperationAnswer = Type.Union([
  Type.Object({ outcome: Type.Literal('done'), rrn: Type.Union([Rrn, Type.Null()]) }, strict),
  Refused,
  Failed,
  Unknown,
]);

/** With a status of 4xx the gateway has done nothing; it says so in one of these words, or we do not believe it. */
const NotTaken = Type.Object(
  {
    error: Type.Union([
      Type.Literal('invalid_request'),
      Type.Literal('unauthorized'),
      Type.Literal('not_supported'),
      Type.Literal('too_many_requests'),
    ]),
  },
  strict,
);

/** How a call that brought no answer of the acquirer itself ended. */
type Silence = { kind: 'not_taken' | 'no_good' | 'unknown'; why: string };
type Heard<Answer> = { kind: 'answer'; answer: Answer } | Silence;

/**
 * Posts each call as signed JSON to the operator's gateway. Nothing is ever sent twice from here. Whatever does not
 * certainly say what became of the money is `unknown`; an inquiry then finds out.
 */
export function createHttpAcquirer(options: HttpAcquirerOptions): Acquirer {
  const { log, now, secret } = options;
  const base = options.url.replace(/\/+$/, '');
  // The operator has chosen this address, and a gateway often stands in the operator's own network.
  const policy = { allowPrivate: true, timeoutMs: options.timeoutMs, maxResponseBytes: 16 * 1024 };

  async function ask<Schema extends TSchema, Final extends TSchema>(
    call: GatewayRequest,
    answers: { success: Schema; clientError: Final },
  ): Promise<Heard<Static<Schema> | Static<Final>>> {
    const body = JSON.stringify(call);
    // Each request has an id of its own.
    const signed = signedHeaders({ id: randomUUID(), at: now(), body }, [keyOfText(secret)]);
    const headers = { 'content-type': 'application/json', ...signed };
    let heard: Heard<Static<Schema> | Static<Final>>;
    try {
      const request = { method: 'POST', url: `${base}/${call.call}`, headers, body } as const;
      heard = read(await callOutgoing(request, policy, options.resolve ?? lookUpBySystem), answers);
    } catch (error) {
      heard = silence(error);
    }
    if (heard.kind !== 'answer') {
      const { reference, merchantId } = call;
      log.warn({ call: call.call, reference, merchantId, why: heard.why }, 'the acquirer did not answer');
    }
    return heard;
  }

  /** An authorization that was never taken has failed; a question that was never taken says nothing about its subject. */
  async function authorization(
    call: GatewayRequest,
    whenNotTaken: 'failed' | 'unknown',
  ): Promise<AuthorizeOutcome> {
    const heard = await ask(call, { success: AuthorizeAnswer, clientError: Declined });
    if (heard.kind !== 'answer') return outcomeOf(heard, whenNotTaken);
    const { answer } = heard;
    switch (answer.outcome) {
      case 'approved': {
        const { rrn, authCode, threeDSecure } = answer;
        return { kind: 'approved', approval: { rrn, authCode, threeDSecure } };
      }
      case 'declined':
        return { kind: 'declined', reason: answer.reason };
      case 'challenge':
        return isPageAddress(answer.url, base) ? { kind: 'challenge', url: answer.url } : { kind: 'unknown' };
      case 'failed':
        return { kind: 'failed', answered: true };
      case 'unknown':
        return { kind: 'unknown' };
    }
  }

  async function operation(
    call: GatewayRequest,
    whenNotTaken: 'failed' | 'unknown',
  ): Promise<OperationOutcome> {
    const heard = await ask(call, { success: OperationAnswer, clientError: Refused });
    if (heard.kind !== 'answer') return outcomeOf(heard, whenNotTaken);
    const { answer } = heard;
    switch (answer.outcome) {
      case 'done':
        return { kind: 'done', rrn: answer.rrn };
      case 'refused':
        return { kind: 'refused', reason: answer.reason };
      case 'failed':
        return { kind: 'failed', answered: true };
      case 'unknown':
        return { kind: 'unknown' };
    }
  }

  return {
    authorize: (call) => authorization(authorizeRequest(call), 'failed'),
    complete: (inquiry) => authorization({ call: 'complete', ...subject(inquiry) }, 'unknown'),
    capture: (call) => operation(operationRequest('capture', call), 'failed'),
    reverse: (call) => operation(operationRequest('reverse', call), 'failed'),
    refund: (call) => operation(operationRequest('refund', call), 'failed'),
    inquireAuthorization: (inquiry) =>
      authorization({ call: 'inquire', about: 'authorization', ...subject(inquiry) }, 'unknown'),
    inquireOperation: (inquiry) =>
      operation({ call: 'inquire', about: 'operation', ...subject(inquiry) }, 'unknown'),
  };
}

function outcomeOf({ kind }: Silence, whenNotTaken: 'failed' | 'unknown'): Lost {
  if (kind === 'unknown' || whenNotTaken === 'unknown') return { kind: 'unknown' };
  return kind === 'no_good' ? { kind: 'failed', answered: true } : { kind: 'failed' };
}

function authorizeRequest(call: AuthorizeCall): GatewayRequest {
  const { number, expiryMonth, expiryYear, securityCode, holder } = call.card;
  return {
    call: 'authorize',
    reference: call.reference,
    merchantId: call.merchantId,
    terminalId: call.terminalId,
    amount: moneyJson(call.amount),
    capture: call.capture,
    returnUrl: call.returnUrl,
    card: { number, expiryMonth, expiryYear, securityCode, holder },
  };
}

function operationRequest(kind: 'capture' | 'reverse' | 'refund', call: OperationCall): GatewayRequest {
  const { reference, authorization, merchantId } = call;
  return { call: kind, reference, authorization, merchantId, amount: moneyJson(call.amount) };
}

function moneyJson(money: Money): MoneyJson {
  return { value: formatMoney(money), currency: money.currency };
}

function subject({ reference, merchantId }: Inquiry): Inquiry {
  return { reference, merchantId };
}

function read<Schema extends TSchema, Final extends TSchema>(
  { status, body, truncated }: { status: number; body: string; truncated: boolean },
  answers: { success: Schema; clientError: Final },
): Heard<Static<Schema> | Static<Final>> {
  const malformed: Silence = { kind: 'unknown', why: `status ${status} with a body that is no answer` };
  if (truncated) return malformed;
  const isClientError = status >= 400 && status <= 499;
  if (!isClientError && (status < 200 || status > 299)) return { kind: 'unknown', why: `status ${status}` };
  let answer: unknown;
  try {
    answer = parseJson(body);
  } catch {
    return malformed;
  }
  if (!isClientError) {
    return Value.Check(answers.success, answer) ? { kind: 'answer', answer } : malformed;
  }
  if (Value.Check(NotTaken, answer)) {
    // Something is wrong with this one request; the next may be all right.
    const isNoGood = answer.error === 'invalid_request' || answer.error === 'not_supported';
    return { kind: isNoGood ? 'no_good' : 'not_taken', why: answer.error };
  }
  return Value.Check(answers.clientError, answer) ? { kind: 'answer', answer } : malformed;
}

/** Only the kind of the fault is kept: an error of the network may carry what was sent, and that is a card. */
function silence(error: unknown): Silence {
  if (error instanceof OutgoingRefused) return { kind: 'not_taken', why: error.reason };
  if (!(error instanceof OutgoingFailed)) throw error;
  const { code } = (error.cause ?? {}) as NodeJS.ErrnoException;
  const why = code ? `${error.reason} ${code}` : error.reason;
  return { kind: wasNeverSent(error) ? 'not_taken' : 'unknown', why };
}

/**
 * Whether the connection failed before the first byte of the request: while the name was looked up, the connection
 * opened or the certificate checked. OpenSSL's own errors may also come later, so they prove nothing.
 */
function wasNeverSent(error: OutgoingFailed): boolean {
  const cause = error.cause as (NodeJS.ErrnoException & { errors?: unknown[] }) | undefined;
  switch (error.reason) {
    case 'timeout':
      return false;
    case 'tls':
      return cause?.code !== undefined && !/^(ERR_SSL_|ECONN|EPIPE)/.test(cause.code);
    case 'connection':
      return (cause?.errors?.length ? cause.errors : [cause]).every((each) => {
        const { syscall } = (each ?? {}) as NodeJS.ErrnoException;
        return syscall === 'connect' || syscall === 'getaddrinfo';
      });
  }
}

/** The browser is sent there: https, unless the gateway itself is spoken to in the clear, as on a developer's machine. */
function isPageAddress(text: string, gateway: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol } = new URL(text);
  return protocol === 'https:' || (protocol === 'http:' && gateway.startsWith('http:'));
}
