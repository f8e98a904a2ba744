/**
 * Fills the tables with as many rows as asked, in a few statements. Everything a row needs comes with it: a person has a
 * number, a session, the client's part of it and a family of refresh tokens; a payment has its key and its event. The
 * payments were canceled by their customers, so that the ledger has nothing to say of them.
 */
import { createHash } from 'node:crypto';
import type pg from 'pg';
import {
  challenge,
  idOf,
  type kinds,
  merchantClientId,
  merchantCount,
  merchantId,
  partner,
  returnUrl,
  scope,
  terminalId,
} from './setup.ts';

const rowsAtOnce = 100_000;

/** The client and the merchants, which ask for much more than a merchant usually may in a second. */
export async function loadParties(client: pg.Client): Promise<void> {
  const secretHash = createHash('sha256').update(partner.clientSecret).digest();
  await client.query(
    `insert into identity.clients (id, client_id, name, audience, grant_types, scopes, redirect_uris, secret_hash,
      identity_documents, access_token_seconds, refresh_token_seconds, created_at)
    values (gen_random_uuid(), $1, 'Benchmark', 'ecosystem', '{authorization_code,refresh_token,client_credentials}',
      $2, $3, $4, true, 3600, 1800, now())`,
    [partner.clientId, scope.split(' '), [partner.redirectUri], secretHash],
  );
  const merchants = Array.from({ length: merchantCount }, (_, at) => at);
  await client.query(
    `insert into checkout.merchants (merchant_id, name, return_url_origins, requests_per_second, created_at)
    select id, 'Shop', $2, 1000000, now() from unnest($1::text[]) id`,
    [merchants.map(merchantId), [new URL(returnUrl).origin]],
  );
  await client.query(
    `insert into checkout.terminals (merchant_id, terminal_id, currencies, created_at)
    select id, $2, '{AZN}', now() from unnest($1::text[]) id`,
    [merchants.map(merchantId), terminalId],
  );
  await client.query(
    `insert into identity.clients (id, client_id, name, audience, grant_types, scopes, secret_hash,
      identity_documents, merchant_id, created_at)
    select gen_random_uuid(), client_id, 'Shop', 'external', '{client_credentials}', '{payments,refunds}', $3,
      false, merchant_id, now()
    from unnest($1::text[], $2::text[]) as given (client_id, merchant_id)`,
    [merchants.map(merchantClientId), merchants.map(merchantId), secretHash],
  );
}

/** People `from` up to `to`, last seen so many seconds ago. */
export async function loadPeople(
  client: pg.Client,
  { from, to, seenSecondsAgo }: { from: number; to: number; seenSecondsAgo: number },
): Promise<void> {
  const scopes = `'{${scope.replaceAll(' ', ',')}}'`;
  const seen = `now() - interval '${seenSecondsAgo} seconds'`;
  await inSteps(client, from, to, [
    `insert into identity.users (user_id, phone, first_name, last_name, created_at, updated_at)
      select ${id('user')}, ${phone}, 'Aysel', 'Example', now(), now() from rows`,
    `insert into identity.phones (phone, user_id) select ${phone}, ${id('user')} from rows`,
    `insert into identity.sessions (user_id, sid, cookie_hash, phone, auth_time, acr, amr, last_seen_at, expires_at)
      select ${id('user')}, ${id('session')}, sha256(n::text::bytea), ${phone}, now(), 'phone', '{sms}', ${seen},
        now() + interval '10 hours' from rows`,
    `insert into identity.client_sessions (user_id, sid, client_id, scopes, created_at)
      select ${id('user')}, ${id('session')}, '${partner.clientId}', ${scopes}, now() from rows`,
    `insert into identity.grants (user_id, grant_id, client_id, sid, scopes, phone, auth_time, acr, amr, token_hash,
        rotated_at, expires_at, created_at)
      select ${id('user')}, ${id('grant')}, '${partner.clientId}', ${id('session')}, ${scopes}, ${phone}, now(),
        'phone', '{sms}', ${hashOfSecret(`uuid_send(${id('user')}) || uuid_send(${id('grant')})`, 'token')},
        now(), now() + interval '1 hour', now() from rows`,
  ]);
}

/** A code to exchange for each of these people. */
export async function loadCodes(client: pg.Client, from: number, to: number): Promise<void> {
  await inSteps(client, from, to, [
    `insert into identity.authorization_codes (user_id, code_hash, client_id, sid, redirect_uri, code_challenge,
        scopes, expires_at)
      select ${id('user')}, ${hashOfSecret(`uuid_send(${id('user')})`, 'code')}, '${partner.clientId}',
        ${id('session')}, '${partner.redirectUri}', '${challenge}', '{${scope.replaceAll(' ', ',')}}',
        now() + interval '1 hour' from rows`,
  ]);
}

export async function loadPayments(client: pg.Client, from: number, to: number): Promise<void> {
  // Nobody has an endpoint here, so the trigger would find nothing to queue, row by row.
  await client.query('alter table checkout.events disable trigger queue_webhooks');
  await inSteps(client, from, to, [
    `insert into checkout.payments (merchant_id, payment_id, terminal_id, status, amount, currency, capture, metadata,
        return_url, created_at, expires_at, canceled_at, cancel_party, cancel_reason, test, version)
      select ${owner}, ${id('payment')}, '${terminalId}', 'canceled', 10000, 'AZN', true, '{}', '${returnUrl}',
        now(), now() + interval '1 hour', now(), 'customer', 'canceled_by_customer', true, 1 from rows`,
    `insert into checkout.idempotency_keys (merchant_id, key, call, fingerprint, object_id, created_at)
      select ${owner}, 'loaded-' || n, 'create_payment', sha256(n::text::bytea), ${id('payment')}, now() from rows`,
    `insert into checkout.events (merchant_id, object_id, sequence, event_id, type, payload, created_at)
      select ${owner}, ${id('payment')}, 1, ${id('event')}, 'payment.canceled',
        '{"data":{"object":{"status":"canceled"}}}', now() from rows`,
  ]);
  await client.query('alter table checkout.events enable trigger queue_webhooks');
}

/** Leaves nothing behind that the next requests would have to pay for. */
export async function settle(client: pg.Client): Promise<void> {
  await client.query('vacuum analyze');
  await client.query('checkpoint');
}

/** The same as `ownerOf`. */
const owner = `'BENCH' || case when n % 2 = 0 then 0 else 1 + ((n - 1) / 2) % ${merchantCount - 1} end`;
const phone = `'+99450' || (2000000 + n)`;

function id(kind: keyof typeof kinds): string {
  const [prefix] = idOf(kind, 0).split(/-0{12}$/);
  return `('${prefix}-' || lpad(to_hex(n), 12, '0'))::uuid`;
}

function hashOfSecret(ids: string, word: string): string {
  const bytes = `${ids} || sha256(('${word} ' || n)::bytea)`;
  return `sha256(rtrim(translate(encode(${bytes}, 'base64'), E'+/\\n', '-_'), '=')::bytea)`;
}

async function inSteps(client: pg.Client, from: number, to: number, statements: string[]): Promise<void> {
  for (let begin = from; begin < to; begin += rowsAtOnce) {
    const end = Math.min(begin + rowsAtOnce, to) - 1;
    for (const statement of statements) {
      const text = statement.replace(/\brows$/, `generate_series(${begin}, ${end}) n`);
      await client.query(text);
    }
  }
}
