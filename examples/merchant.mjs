// "Pay with us" in one file: fetch and node:http, nothing installed. Run it beside a local Tollgate (npm start):
//
//   node examples/merchant.mjs
//
// and open http://localhost:4000. The card is 4242 4242 4242 4242.
import { createHmac, randomBytes, randomUUID, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';

const checkout = process.env.CHECKOUT ?? 'http://localhost:3000/checkout';
const clientId = process.env.CLIENT_ID ?? 'demo-merchant';
const clientSecret = process.env.CLIENT_SECRET ?? 'demo-merchant-secret';
const home = 'http://localhost:4000';

await fetch(checkout).catch(() => {
  process.stderr.write(
    `No Tollgate answers at ${checkout}. Start one with npm start, or name another in CHECKOUT.\n`,
  );
  process.exit(1);
});

/** A call to the checkout. The key makes it safe to send again: the same key never does a thing twice. */
async function call(method, path, { body, key } = {}) {
  const response = await fetch(`${checkout}${path}`, {
    method,
    headers: {
      authorization: `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString('base64')}`,
      ...(body ? { 'content-type': 'application/json' } : {}),
      ...(key ? { 'x-idempotency-key': key } : {}),
    },
    ...(body ? { body: JSON.stringify(body) } : {}),
    signal: AbortSignal.timeout(10_000),
  });
  const answer = response.status === 204 ? undefined : await response.json();
  // 5xx and 429 say `retryable`: send the same again, with the same key.
  if (!response.ok) throw new Error(`${answer.code}: ${answer.detail ?? answer.title}`);
  return answer;
}

// Ask to be told of payments and refunds. The secret is shown this one time.
const { items } = await call('GET', '/v1/webhook-endpoints');
for (const { id, url } of items) {
  if (url === `${home}/webhooks`) await call('DELETE', `/v1/webhook-endpoints/${id}`);
}
const { secret } = await call('POST', '/v1/webhook-endpoints', {
  body: { url: `${home}/webhooks`, events: ['payment.*', 'refund.*'] },
});

/** What each visitor has bought, by the random value of their cookie. A real shop keeps this in its database. */
const visitors = new Map();
/** What we were told of each payment. */
const told = new Map();
const mostKept = 1_000;

createServer(async (request, response) => {
  const url = new URL(request.url, home);
  const go = (to) => response.writeHead(303, { location: to }).end();
  const show = (html, status = 200) =>
    response.writeHead(status, { 'content-type': 'text/html; charset=utf-8' }).end(html);
  try {
    if (request.method === 'POST' && url.pathname === '/webhooks') {
      const body = await bodyOf(request);
      if (!isSigned(request.headers, body)) return response.writeHead(401).end();
      const { type, data } = JSON.parse(body);
      const paymentId = data.object.paymentId ?? data.object.id;
      keep(told, paymentId, [...(told.get(paymentId) ?? []), type].slice(-20));
      return response.writeHead(204).end();
    }
    if (request.method === 'POST' && url.pathname === '/buy') {
      const payment = await call('POST', '/v1/payments', {
        key: randomUUID(),
        body: {
          merchantId: 'DEMOMERCHANT001',
          terminalId: 'DEMOTRM1',
          amount: { value: '12.50', currency: 'AZN' },
          description: 'Coffee beans',
          confirmation: { type: 'REDIRECT', returnUrl: `${home}/thanks` },
        },
      });
      const visitor = visitorOf(request) ?? randomBytes(24).toString('base64url');
      keep(visitors, visitor, [...(visitors.get(visitor) ?? []), payment.id].slice(-20));
      // Lax: the cookie comes along when the payment page leads back here, and not with a form of somebody else's page.
      response.setHeader('set-cookie', `visitor=${visitor}; HttpOnly; SameSite=Lax; Path=/`);
      return go(payment.confirmation.confirmationUrl);
    }
    if (request.method === 'POST' && url.pathname === '/refund') {
      const paymentId = new URLSearchParams(await bodyOf(request)).get('paymentId');
      if (!isTheirs(request, paymentId)) return show('<p>That is not your order.</p>', 404);
      // A real shop asks for a reason, and lets its own people decide.
      const amount = { value: '5.00', currency: 'AZN' };
      await call('POST', '/v1/refunds', { key: randomUUID(), body: { paymentId, amount } });
      return go(`/thanks?paymentId=${encodeURIComponent(paymentId)}`);
    }
    if (url.pathname === '/thanks') {
      // Anybody can type this address: only who bought it sees it, and what happened is read from the checkout.
      const paymentId = url.searchParams.get('paymentId');
      if (!isTheirs(request, paymentId)) return show('<p>That is not your order.</p>', 404);
      const payment = await call('GET', `/v1/payments/${encodeURIComponent(paymentId)}`);
      return show(`<h1>${asText(payment.status)}</h1>
        <p>${payment.amount.value} AZN, of which ${payment.refundedAmount.value} went back.</p>
        <p>Webhooks so far: ${asText(told.get(payment.id)?.join(', ') ?? 'none')}</p>
        <form method="post" action="/refund"><input type="hidden" name="paymentId" value="${asText(payment.id)}">
        <button>Give 5.00 back</button></form><a href="/">Shop</a>`);
    }
    return show(
      '<h1>Coffee beans, 12.50 AZN</h1><form method="post" action="/buy"><button>Buy</button></form>',
    );
  } catch (error) {
    show(`<p>That did not work: ${asText(error.message)}</p><a href="/">Back</a>`, 400);
  }
}).listen(4000, 'localhost', () => process.stdout.write(`open ${home}\n`));

function visitorOf(request) {
  const [, visitor] = /(?:^|; )visitor=([\w-]{32})(?:;|$)/.exec(request.headers.cookie ?? '') ?? [];
  return visitors.has(visitor) ? visitor : undefined;
}

function isTheirs(request, paymentId) {
  return visitors.get(visitorOf(request))?.includes(paymentId) ?? false;
}

/** The newest last; the oldest goes when there are too many. */
function keep(map, key, value) {
  map.delete(key);
  map.set(key, value);
  if (map.size > mostKept) map.delete(map.keys().next().value);
}

/** Standard Webhooks: HMAC-SHA256 of id, time and body, not older than five minutes. */
function isSigned(headers, body) {
  const { 'webhook-id': id, 'webhook-timestamp': time, 'webhook-signature': signatures = '' } = headers;
  if (Math.abs(Date.now() / 1000 - Number(time)) > 300) return false;
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64');
  const ours = Buffer.from(
    `v1,${createHmac('sha256', key).update(`${id}.${time}.${body}`).digest('base64')}`,
  );
  return signatures.split(' ').some((theirs) => {
    const bytes = Buffer.from(theirs);
    return bytes.length === ours.length && timingSafeEqual(bytes, ours);
  });
}

async function bodyOf(request) {
  const parts = [];
  for await (const part of request) parts.push(part);
  return Buffer.concat(parts).toString();
}

function asText(text) {
  return String(text).replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}
