/** Every refusal an area can give, in one table: code, HTTP status, and what it means in one sentence. */
export type RefusalTable = Readonly<Record<string, RefusalRow>>;

/** `retryable` where sending the very same request again can help although the status does not say so. */
export type RefusalRow = readonly [status: number, title: string, retryable?: 'retryable'];

/** One thing that is wrong, at a place: a JSON pointer into the body, or the name of a header or parameter. */
export type FieldFault = { pointer: string; detail: string } | { parameter: string; detail: string };

type More = { errors?: FieldFault[]; headers?: Record<string, string> };

/** What a caller can cause. Everything else that is thrown is a fault of the world or a bug of ours. */
export class Refusal extends Error {
  readonly code: string;
  readonly status: number;
  readonly title: string;
  readonly retryable: boolean;
  readonly detail: string | undefined;
  readonly errors: FieldFault[] | undefined;
  readonly headers: Record<string, string>;

  constructor(code: string, row: RefusalRow, detail?: string, more: More = {}) {
    const [status, title] = row;
    super(detail ?? title);
    this.name = 'Refusal';
    this.code = code;
    this.status = status;
    this.title = title;
    this.retryable = isRetryable(row);
    this.detail = detail;
    this.errors = more.errors;
    this.headers = more.headers ?? {};
  }
}

/** Binds a table: `const refuse = refuserOf(refusals); throw refuse('payment_not_found');` */
export function refuserOf<Table extends RefusalTable>(table: Table) {
  return (code: keyof Table & string, detail?: string, more?: More): Refusal =>
    new Refusal(code, table[code] as RefusalRow, detail, more);
}

/** Refusals that have nothing to do with any area. */
export const commonRefusals = {
  invalid_request: [400, 'The request does not have the form that this call takes.'],
  not_found: [404, 'Nothing is served at this address.'],
  method_not_allowed: [405, 'This address does not take this method; `Allow` names those it takes.'],
  request_timeout: [408, 'The request did not arrive in time.', 'retryable'],
  payload_too_large: [413, 'The body is larger than this call takes; none takes more than 64 kB.'],
  unsupported_media_type: [415, 'The body has a content type or an encoding that this call does not take.'],
  expectation_failed: [417, 'The header `Expect` asks for something that is not done here.'],
  headers_too_large: [431, 'The address and the headers together are larger than 16 kB.'],
  internal_error: [500, 'Something went wrong on our side; the same request may be sent again.'],
  service_unavailable: [
    503,
    'The service cannot work at the moment; send the same request again after a while.',
  ],
} as const satisfies RefusalTable;

export type Problem = {
  type: string;
  title: string;
  status: number;
  detail?: string;
  code: string;
  requestId: string;
  retryable: boolean;
  errors?: FieldFault[];
};

/** RFC 9457. The codes are documented at `{BASE_URL}/docs/errors`. */
export function problemOf(refusal: Refusal, context: { baseUrl: string; requestId: string }): Problem {
  return {
    type: `${context.baseUrl}/docs/errors#${refusal.code}`,
    title: refusal.title,
    status: refusal.status,
    ...(refusal.detail === undefined ? {} : { detail: refusal.detail }),
    code: refusal.code,
    requestId: context.requestId,
    retryable: refusal.retryable,
    ...(refusal.errors === undefined ? {} : { errors: refusal.errors }),
  };
}

/** Whether sending the very same request again can help. */
export function isRetryable([status, , marked]: RefusalRow): boolean {
  return marked === 'retryable' || status === 429 || status >= 500;
}
