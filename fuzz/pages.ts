import type { Operation, Schema } from './document.ts';

const page = { 'text/html': { type: 'string' } };
const shown = { 200: page, 303: {}, 400: page, 403: page, 404: page, 409: page, 410: page, 429: page };

/** The pages and forms that people see. They are in no document; whatever is typed, a page answers. */
export const pageOperations: Operation[] = [
  pageAt('GET', '/checkout/pay/{token}'),
  form('/checkout/pay/{token}', 'attempts', 'number', 'expiry', 'csc', 'holder'),
  pageAt('GET', '/checkout/pay/{token}/bank'),
  pageAt('GET', '/checkout/pay/{token}/return'),
  pageAt('GET', '/checkout/pay/{token}/give-up'),
  form('/checkout/pay/{token}/more-time', 'extensions', 'from'),
  pageAt('GET', '/checkout/pay/{token}/wallet/confirm'),
  form('/checkout/pay/{token}/wallet/confirm', 'csrf', 'attempts'),
  pageAt('GET', '/checkout/sandbox/acs/{token}'),
  form('/checkout/sandbox/acs/{token}', 'code', 'action'),
  form('/sso/auth/login', 'flow', 'csrf', 'phone'),
  form('/sso/auth/code', 'flow', 'csrf', 'code'),
  form('/sso/auth/resend', 'flow', 'csrf'),
  form('/sso/auth/consent', 'flow', 'csrf', 'consent'),
  form('/checkout/pay/{token}/give-up'),
];

function form(path: string, ...fields: string[]): Operation {
  return { ...pageAt('POST', path, fields), bodyType: 'application/x-www-form-urlencoded' };
}

function pageAt(method: string, path: string, fields?: string[]): Operation {
  const id: Schema = { type: 'string', minLength: 1, maxLength: 512 };
  const token = path.includes('{token}') ? { token: id } : {};
  const properties: Record<string, Schema> = {
    path: { type: 'object', properties: token, required: Object.keys(token) },
    query: { type: 'object', properties: {} },
    ...(fields ? { body: formOf(fields) } : {}),
  };
  return {
    name: `${method} ${path}`,
    method,
    path,
    caller: 'browser',
    needsKey: false,
    parts: { type: 'object', properties, required: Object.keys(properties) },
    bodyType: undefined,
    answers: shown,
  };
}

function formOf(fields: string[]): Schema {
  return { type: 'object', properties: Object.fromEntries(fields.map((name) => [name, { type: 'string' }])) };
}
