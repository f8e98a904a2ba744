import assert from 'node:assert/strict';
import { createHash, generateKeyPairSync } from 'node:crypto';
import fc from 'fast-check';
import type { FastifyRequest } from 'fastify';
import { confirmationToken, readConfirmationToken } from '../src/checkout/confirmation-url.ts';
import { passesCheckDigit } from '../src/checkout/domain/card.ts';
import { readCard, shownAgain } from '../src/checkout/domain/card-form.ts';
import { formatMoney, parseMoney } from '../src/checkout/domain/money.ts';
import type { PaymentId } from '../src/checkout/domain/payment.ts';
import { basicCredentials } from '../src/identity/client-authentication.ts';
import { checkAuthorizationRequest } from '../src/identity/domain/authorization-request.ts';
import type { Client } from '../src/identity/domain/client.ts';
import { registrationFaults } from '../src/identity/domain/client-registration.ts';
import { parsePhone } from '../src/identity/domain/phone.ts';
import { signJwt, verifyJwt } from '../src/identity/jwt.ts';
import type { Keyring, SigningKey } from '../src/identity/keyring.ts';
import { makeRoutedSecret, readRoutedSecret } from '../src/identity/routed-secret.ts';
import { createCookies } from '../src/platform/cookies.ts';
import { parseForm } from '../src/platform/form.ts';
import { JsonRefused, parseJson } from '../src/platform/json.ts';
import { chooseLanguage, languages } from '../src/platform/languages.ts';
import { checkOutgoingUrl, OutgoingRefused } from '../src/platform/outgoing.ts';
import { deriveKey, seal, unseal } from '../src/platform/seal.ts';
import { awkwardTexts } from './arbitrary.ts';
import type { Finding } from './campaign.ts';

const anyText = fc.oneof(fc.string({ unit: 'binary', maxLength: 200 }), fc.constantFrom(...awkwardTexts));
const wholeText = anyText.map((text) => Buffer.from(text).toString());
const letters = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'];

/** A text of ours with one character changed. */
const changed = (text: string) =>
  fc
    .tuple(fc.nat(text.length - 1), fc.constantFrom(...letters))
    .map(([at, letter]) => text.slice(0, at) + letter + text.slice(at + 1))
    .filter((mutant) => mutant !== text);

const key = deriveKey('a secret for the fuzz', 'fuzz');

const client: Client = {
  id: '0b6f2b1e-8c0a-4f8e-9d6b-5a1c7a1f0001',
  clientId: 'partner',
  name: 'Partner',
  audience: 'ecosystem',
  grantTypes: ['authorization_code'],
  scopes: ['openid', 'profile'],
  redirectUris: ['https://rp.example/cb', 'http://127.0.0.1/cb'],
  postLogoutRedirectUris: [],
  backchannelLogoutUri: null,
  secretHash: null,
  previousSecretHash: null,
  previousSecretExpiresAt: null,
  requirePkce: true,
  requireState: true,
  identityDocuments: false,
  accessTokenAlg: 'ES256',
  idTokenAlg: 'ES256',
  accessTokenSeconds: 300,
  refreshTokenSeconds: 1800,
  merchantId: null,
  disabledAt: null,
};

const goodRequest: Record<string, string> = {
  response_type: 'code',
  client_id: 'partner',
  scope: 'openid profile',
  state: 's',
  redirect_uri: 'https://rp.example/cb',
  code_challenge: createHash('sha256').update('v').digest('base64url'),
  code_challenge_method: 'S256',
};

/** What is almost good, and must not be taken. */
const nearRequests: Record<string, string[]>[] = [
  ...['plain', 's256', 'S256 ', ''].map((method) => ({ code_challenge_method: [method] })),
  ...['token', 'code token', 'id_token', 'CODE'].map((type) => ({ response_type: [type] })),
  ...['profile', 'openid2', 'OpenID', ''].map((scope) => ({ scope: [scope] })),
  ...['none login', 'nothing'].map((prompt) => ({ prompt: [prompt] })),
  ...['v', 'x'.repeat(42), 'x'.repeat(44), `${'x'.repeat(42)}=`].map((text) => ({ code_challenge: [text] })),
  ...Object.keys(goodRequest)
    .filter((name) => name !== 'client_id')
    .map((name) => ({ [name]: [] })),
];

const otherRedirects = [
  'https://rp.example/cb/',
  'https://RP.example/cb',
  'https://rp.example/cb?x=1',
  'https://rp.example:443/cb',
  'https://rp.example@evil.example/cb',
  'https://rp.example.evil.example/cb',
  'https://rp.example/cb/..;/x',
  'http://127.0.0.1.evil.example/cb',
  'javascript:alert(1)',
];

const phone = '+994501234567';
const currencies = fc.constantFrom('AZN', 'JPY', 'KWD', 'CLF', 'USD');
/** An amount into which one more character has slipped. */
const almostAmounts = fc
  .tuple(fc.constantFrom('100.00', '1', '0.01', '12.345'), fc.nat(6), fc.constantFrom(...' \n\t+-0.,_e٣'))
  .map(([text, at, more]) => text.slice(0, at) + more + text.slice(at));
const cardNumbers = fc.constantFrom('4242424242424242', '5555555555554444', '378282246310005');
const today = new Date('2026-06-15T00:00:00Z');

const innerHosts = fc.oneof(
  fc.constantFrom(
    'localhost',
    '127.1',
    '0x7f000001',
    '2130706433',
    '0177.0.0.1',
    '169.254.169.254',
    '[::1]',
    '[::ffff:a9fe:a9fe]',
    '[::127.0.0.1]',
    '[fe80::1]',
    '[fd00::1]',
    '①②⑦.0.0.1',
    '0.0.0.0',
  ),
  fc.tuple(fc.nat(255), fc.nat(255), fc.nat(255)).map(([a, b, c]) => `10.${a}.${b}.${c}`),
  fc.tuple(fc.nat(255), fc.nat(255)).map(([a, b]) => `192.168.${a}.${b}`),
);
const publicOnly = { allowPrivate: false, timeoutMs: 1000, maxResponseBytes: 100 };

const keys = ['ES256', 'EdDSA'].map((alg) => signingKeyOf(alg as SigningKey['alg']));
const keyring: Pick<Keyring, 'verificationKey'> = {
  verificationKey: async (kid) => keys.find((one) => one.kid === kid),
};
const tokens = keys.map((one) => signJwt(one, 'at+jwt', { sub: 'a', exp: 9e9 }));

function signingKeyOf(alg: SigningKey['alg']): SigningKey {
  const pair =
    alg === 'EdDSA' ? generateKeyPairSync('ed25519') : generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const header = (typ: string) => Buffer.from(JSON.stringify({ alg, typ, kid: alg })).toString('base64url');
  return {
    ...pair,
    kid: alg,
    alg,
    publicJwk: {},
    activatesAt: new Date(0),
    headers: { 'at+jwt': header('at+jwt'), JWT: header('JWT'), 'logout+jwt': header('logout+jwt') },
  };
}

/** What must hold of each parser, whatever it is given. */
const properties: Record<string, fc.IRawProperty<unknown, boolean>> = {
  'authorization request: sends nobody anywhere but to a registered address': fc.property(
    fc.dictionary(
      fc.oneof(
        fc.constantFrom(...Object.keys(goodRequest), 'prompt', 'max_age', 'claims', 'request'),
        anyText,
      ),
      fc.oneof(
        fc.array(fc.oneof(anyText, fc.constantFrom(...otherRedirects)), {
          minLength: 1,
          maxLength: 2,
        }),
        fc.constant([]),
      ),
      { maxKeys: 3 },
    ),
    (changes) => {
      const good = Object.entries(goodRequest).map(([name, value]) => [name, [value]] as const);
      const parameters = new Map<string, readonly string[]>([...good, ...Object.entries(changes)]);
      const checked = checkAuthorizationRequest(parameters, client, { nonceInsteadOfPkce: false });
      if (checked.kind === 'page_error') return;
      const sentTo = checked.kind === 'ok' ? checked.request.redirectUri : checked.error.redirectUri;
      assert.ok(client.redirectUris.includes(sentTo));
      if (checked.kind === 'redirect_error') return;
      assert.match(checked.request.codeChallenge ?? '', /^[\w-]{43}$/);
      assert.deepEqual(parameters.get('code_challenge_method'), ['S256']);
      assert.deepEqual(parameters.get('response_type'), ['code']);
      assert.ok(checked.request.state && checked.request.scopes.includes('openid'));
      assert.ok(checked.request.scopes.every((scope) => client.scopes.includes(scope)));
      assert.ok([...parameters.values()].every((values) => values.length <= 1));
    },
  ),
  'authorization request: what is almost good is refused': fc.property(
    fc.constantFrom(...nearRequests),
    (change) => {
      const good = Object.entries(goodRequest).map(([name, value]) => [name, [value]] as const);
      const check = (changes: Record<string, string[]>) =>
        checkAuthorizationRequest(
          new Map<string, readonly string[]>([...good, ...Object.entries(changes)]),
          client,
          {
            nonceInsteadOfPkce: false,
          },
        ).kind;
      assert.equal(check({}), 'ok');
      assert.notEqual(check(change), 'ok');
    },
  ),
  'redirect URI: only https, this device or the scheme of an app is registered': fc.property(
    fc.oneof(fc.webUrl(), anyText, fc.constantFrom(...otherRedirects, 'data:text/html,x', 'a.b:/c')),
    (address) => {
      const faults = registrationFaults({ ...client, redirectUris: [address] }, { local: false });
      if (faults.length > 0) return;
      const url = new URL(address);
      assert.ok(
        url.protocol === 'https:' || url.hostname === '127.0.0.1' || url.protocol.includes('.'),
        address,
      );
      assert.ok(url.username === '' && url.hash === '', address);
    },
  ),
  'phone: one number however it is spelled, or none': fc.property(anyText, (text) => {
    const read = parsePhone(text, 'AZ');
    if (read === undefined) return;
    assert.match(read, /^\+[1-9]\d{6,14}$/);
    assert.equal(parsePhone(read, 'AZ'), read);
  }),
  'phone: spaces, hyphens and other digits change nothing': fc.property(
    fc.array(fc.constantFrom('', ' ', '-', '\u200e', '\u00a0'), { minLength: 12, maxLength: 12 }),
    fc.constantFrom(0x30, 0x660, 0x6f0, 0xff10),
    (between, zero) => {
      const digits = [...phone.slice(1)].map((digit) => String.fromCharCode(zero + Number(digit)));
      const spelled = `+${digits.map((digit, at) => digit + (at < 11 ? between[at] : '')).join('')}`;
      assert.equal(parsePhone(spelled, 'AZ'), phone);
    },
  ),
  'phone: with any other sign in it, it is none': fc.property(
    fc.nat(phone.length),
    fc.constantFrom(...'aZo+;,#*@=&?:\'"<'),
    (at, sign) => {
      if (sign === '+' && at === 0) return;
      assert.equal(parsePhone(phone.slice(0, at) + sign + phone.slice(at), 'AZ'), undefined);
    },
  ),
  'money: an amount is written as it is read': fc.property(
    fc.bigInt({ min: 1n, max: 999_999_999_999n }),
    currencies,
    (minor, currency) =>
      assert.deepEqual(parseMoney(formatMoney({ minor, currency }), currency), { minor, currency }),
  ),
  'money: no other text is an amount': fc.property(
    fc.oneof(
      anyText,
      fc.double().map(String),
      almostAmounts,
      fc.stringMatching(/^[-+]?[0-9]{0,14}[.,]?[0-9]{0,5}(e[0-9]+)?$/),
    ),
    currencies,
    (text, currency) => {
      const money = parseMoney(text, currency);
      if (money) assert.equal(formatMoney(money), text);
    },
  ),
  'JWT: a changed token is no token': fc.asyncProperty(
    fc.constantFrom(...tokens).chain((token) => changed(token)),
    async (mutant) => assert.equal(await verifyJwt(keyring, 'at+jwt', mutant), undefined),
  ),
  'JWT: another use, another text or another header is no token': fc.asyncProperty(
    fc.constantFrom(...tokens),
    fc.oneof(anyText, fc.json()),
    async (token, text) => {
      assert.ok(await verifyJwt(keyring, 'at+jwt', token));
      assert.equal(await verifyJwt(keyring, 'JWT', token), undefined);
      const [, claims, signature] = token.split('.');
      const header = Buffer.from(text).toString('base64url');
      for (const mutant of [text, `${header}.${claims}.${signature}`, `${header}.${header}.${header}`]) {
        assert.equal(await verifyJwt(keyring, 'at+jwt', mutant), undefined);
      }
    },
  ),
  'JWT: signed by a key of ours, and yet no token': fc.asyncProperty(
    fc.constantFrom(...keys),
    fc.constantFrom<object>(
      { alg: 'none' },
      { alg: 'HS256' },
      { alg: undefined },
      { typ: 'JWT' },
      { typ: undefined },
      { kid: 'another' },
      { kid: undefined },
      { crit: ['exp'] },
    ),
    async (key, change) => {
      const header = { alg: key.alg, typ: 'at+jwt', kid: key.kid };
      const sealedAs = (one: object) => ({
        ...key,
        headers: { ...key.headers, 'at+jwt': Buffer.from(JSON.stringify(one)).toString('base64url') },
      });
      assert.ok(await verifyJwt(keyring, 'at+jwt', signJwt(sealedAs(header), 'at+jwt', { sub: 'a' })));
      const forged = signJwt(sealedAs({ ...header, ...change }), 'at+jwt', { sub: 'a' });
      assert.equal(await verifyJwt(keyring, 'at+jwt', forged), undefined);
    },
  ),
  'card: read as people write it, and a wrong digit is found': fc.property(
    cardNumbers,
    fc.nat(15),
    fc.integer({ min: 1, max: 9 }),
    (number, at, more) => {
      const spaced = number.replace(/(.{4})/g, '$1 ');
      const typed = {
        number: spaced,
        expiry: '3/29',
        csc: number.startsWith('3') ? '1234' : '123',
        holder: 'A',
      };
      assert.ok(readCard(typed, today).ok);
      if (at >= number.length) return;
      const wrong = number.slice(0, at) + ((Number(number[at]) + more) % 10) + number.slice(at + 1);
      assert.ok(!readCard({ ...typed, number: wrong }, today).ok);
    },
  ),
  'card: whatever is typed is read or refused, and no number is shown again': fc.property(
    fc.record({
      number: fc.oneof(anyText, cardNumbers),
      expiry: fc.oneof(anyText, fc.stringMatching(/^[0-9]{1,2}[/. -]?[0-9]{2,4}$/), cardNumbers),
      csc: fc.oneof(anyText, fc.constant('123')),
      holder: fc.oneof(anyText, cardNumbers, fc.constant('A Customer')),
    }),
    (typed) => {
      const read = readCard(typed, today);
      const { expiry, holder } = shownAgain(typed);
      assert.ok(!/\d{12}/.test(`${expiry} ${holder}`));
      if (!read.ok) return;
      const { card } = read;
      assert.ok(passesCheckDigit(card.number) && /^\d{3,4}$/.test(card.securityCode));
      assert.ok(card.expiryYear * 12 + card.expiryMonth >= 2026 * 12 + 6);
    },
  ),
  'Basic header: any name and secret come through, and any text is read or refused': fc.property(
    wholeText.filter((text) => text !== ''),
    wholeText,
    (clientId, secret) => {
      const pair = `${encodeURIComponent(clientId)}:${encodeURIComponent(secret)}`;
      const header = `Basic ${Buffer.from(pair).toString('base64')}`;
      assert.deepEqual(basicCredentials(header), { clientId, secret });
      basicCredentials(`Basic ${secret}`);
      basicCredentials(`Basic ${Buffer.from(secret).toString('base64')}`);
    },
  ),
  'cookies: ours is found among any others': fc.property(
    fc.array(
      anyText.filter((text) => !/tollgate|;/.test(text)),
      { maxLength: 5 },
    ),
    (others) => {
      const cookies = createCookies<'session'>('https://a.example');
      const header = [...others, '__Host-tollgate-session=value', 'tollgate-session=planted'].join('; ');
      assert.equal(cookies.read({ headers: { cookie: header } } as FastifyRequest, 'session'), 'value');
    },
  ),
  'seal: opens as it was closed, and not after any change': fc.property(
    fc.uint8Array({ maxLength: 100 }),
    fc.nat(),
    fc.integer({ min: 1, max: 255 }),
    (plain, at, flip) => {
      const sealed = seal(key, Buffer.from(plain), 'one');
      assert.deepEqual(unseal(key, sealed, 'one'), Buffer.from(plain));
      assert.equal(unseal(key, sealed, 'two'), undefined);
      sealed[at % sealed.length] = (sealed[at % sealed.length] ?? 0) ^ flip;
      assert.equal(unseal(key, sealed, 'one'), undefined);
      assert.equal(unseal(key, Buffer.from(plain), 'one'), undefined);
    },
  ),
  'confirmation token: leads to its payment, and a changed one nowhere': fc.property(
    fc.uuid({ version: 7 }),
    fc.stringMatching(/^[A-Za-z0-9_-]{1,15}$/),
    fc.nat(),
    fc.constantFrom(...letters, '=', '\n', '\0'),
    anyText,
    (id, merchantId, at, letter, text) => {
      const payment = { merchantId, id: id as PaymentId };
      const token = confirmationToken(key, payment);
      assert.deepEqual(readConfirmationToken(key, token), payment);
      const place = at % (token.length + 1);
      const mutant = token.slice(0, place) + letter + token.slice(place + 1);
      if (mutant !== token) assert.equal(readConfirmationToken(key, mutant), undefined);
      assert.equal(readConfirmationToken(key, text), undefined);
    },
  ),
  'refresh token: one spelling only': fc.property(
    fc.uuid(),
    fc.nat(),
    fc.constantFrom(...letters),
    (id, at, letter) => {
      const { text, hash } = makeRoutedSecret([id]);
      assert.deepEqual(readRoutedSecret(text, 'id'), { id, hash });
      const place = at % text.length;
      const mutant = text.slice(0, place) + letter + text.slice(place + 1);
      if (mutant !== text) assert.notDeepEqual(readRoutedSecret(mutant, 'id')?.hash, hash);
    },
  ),
  'JSON: read as it was written, or refused in a sentence': fc.property(
    fc.oneof(anyText, fc.json()),
    (text) => {
      try {
        assert.deepEqual(parseJson(text), JSON.parse(text));
      } catch (error) {
        assert.ok(error instanceof JsonRefused);
      }
    },
  ),
  'form: every field is there': fc.property(
    fc.array(fc.tuple(wholeText, wholeText), { maxLength: 5 }),
    (pairs) => {
      const fields = parseForm(new URLSearchParams(pairs).toString());
      for (const [name, value] of pairs) assert.ok(fields.get(name)?.includes(value));
      parseForm(pairs.flat().join('&'));
    },
  ),
  'language: always one of ours': fc.property(anyText, anyText, (locales, header) =>
    assert.ok(languages.includes(chooseLanguage(locales, header))),
  ),
  'webhook URL: no inner address passes, however it is written': fc.asyncProperty(
    innerHosts,
    fc.constantFrom('https://', 'HTTPS:\\\\', 'https:////', 'https://a.example@'),
    fc.constantFrom('', ':443', ':8443/x', '/a?b#c', '.'),
    async (host, before, behind) => {
      await assert.rejects(
        checkOutgoingUrl(before + host + behind, publicOnly, async () => ['127.0.0.1']),
        OutgoingRefused,
      );
    },
  ),
  'webhook URL: any text is taken or refused in a sentence': fc.asyncProperty(
    fc.oneof(anyText, fc.webUrl(), fc.webUrl({ validSchemes: ['http', 'ftp', 'file'] })),
    async (text) => {
      try {
        await checkOutgoingUrl(text, publicOnly, async () => ['93.184.216.34']);
        assert.equal(new URL(text).protocol, 'https:');
      } catch (error) {
        assert.ok(error instanceof OutgoingRefused, String(error));
      }
    },
  ),
};

export const parserNames = [...new Set(Object.keys(properties).map((name) => name.split(':')[0] ?? ''))];

/** Runs every property so many times; a finding carries what fast-check needs to repeat it. */
export async function fuzzParsers(seed: number, numRuns: number): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const [name, property] of Object.entries(properties)) {
    const result = await fc.check(property as fc.IAsyncProperty<unknown>, { seed, numRuns });
    if (!result.failed) continue;
    findings.push({
      about: name,
      fault: String(result.errorInstance),
      times: 1,
      repeat: `seed ${result.seed}, path ${result.counterexamplePath}`,
      answer: fc.stringify(result.counterexample),
    });
  }
  return findings;
}
