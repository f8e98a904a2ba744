import type { FastifyError } from 'fastify';
import { isDatabaseAway } from './db.ts';
import { commonRefusals, type FieldFault, Refusal, refuserOf } from './problem.ts';

const refuse = refuserOf(commonRefusals);

/** Turns anything thrown into what the caller may know of it. */
export function refusalOf(error: unknown): Refusal {
  if (error instanceof Refusal) return error;
  if (!(error instanceof Error)) return refuse('internal_error');
  const { validation, validationContext: context = 'body', statusCode } = error as FastifyError;
  if (validation) {
    const errors = validation.map((fault) => fieldFault(fault, context));
    return refuse('invalid_request', 'See `errors` for each fault.', { errors });
  }
  if (isDatabaseAway(error))
    return refuse('service_unavailable', undefined, { headers: { 'retry-after': '1' } });
  switch (statusCode) {
    case 413:
      return refuse('payload_too_large');
    case 415:
      return refuse(
        'unsupported_media_type',
        'Calls with JSON take application/json, and forms application/x-www-form-urlencoded.',
      );
    case 414:
      return refuse('headers_too_large', 'A part of the address is longer than 512 characters.');
    case 400:
      return refuse('invalid_request', 'The address, a header or the length of the body is malformed.');
  }
  return refuse('internal_error');
}

type SchemaFault = {
  keyword: string;
  instancePath: string;
  message?: string;
  params: Record<string, unknown>;
  parentSchema?: { description?: string };
};

function fieldFault(fault: SchemaFault, context: string): FieldFault {
  const name = fault.params.missingProperty ?? fault.params.additionalProperty;
  const suffix = typeof name === 'string' ? `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}` : '';
  const place = fault.instancePath + suffix;
  const detail = sentenceOf(fault);
  return context === 'body' ? { pointer: place, detail } : { parameter: place.slice(1), detail };
}

function sentenceOf({ keyword, message, params, parentSchema }: SchemaFault): string {
  switch (keyword) {
    case 'required':
      return 'This field is required.';
    case 'additionalProperties':
      return 'This field is not known.';
    case 'const':
      return `It must be ${JSON.stringify(params.allowedValue)}.`;
    case 'enum':
      return `It must be one of ${JSON.stringify(params.allowedValues)}.`;
    case 'type':
      return `It must be ${[params.type].flat().map(typeInWords).join(' or ')}.`;
    case 'pattern':
    case 'format':
      return parentSchema?.description
        ? `It does not fit. Expected: ${parentSchema.description}.`
        : 'It does not fit.';
  }
  const bound = bounds[keyword];
  return bound
    ? `It must ${bound.replace('{limit}', String(params.limit))}.`
    : `It ${message ?? 'is not valid'}.`;
}

const bounds: Record<string, string> = {
  minLength: 'have {limit} or more characters',
  maxLength: 'have {limit} or fewer characters',
  minItems: 'have {limit} or more items',
  maxItems: 'have {limit} or fewer items',
  minProperties: 'have {limit} or more fields',
  maxProperties: 'have {limit} or fewer fields',
  minimum: 'be at least {limit}',
  maximum: 'be at most {limit}',
};

function typeInWords(type: unknown): string {
  switch (type) {
    case 'integer':
      return 'a whole number';
    case 'boolean':
      return 'true or false';
    case 'object':
      return 'an object';
    case 'array':
      return 'a list';
    case 'null':
      return 'null';
    default:
      return `a ${type}`;
  }
}
