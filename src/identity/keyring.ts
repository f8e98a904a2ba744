import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPair as generateKeyPairCallback,
  type JsonWebKey,
  type KeyObject,
  randomUUID,
} from 'node:crypto';
import { promisify } from 'node:util';
import type { Database, Queryable } from '../platform/db.ts';
import { type PurposeKey, seal, unseal } from '../platform/seal.ts';
import { type Algorithm, algorithms } from './domain/algorithm.ts';
import {
  currentKey,
  forgottenKeys,
  keyStates,
  nextRotation,
  publishAheadMs,
  publishedKeys,
  publishedUntil,
  successorDue,
} from './domain/key-schedule.ts';
import { writeAudit } from './store/audit.ts';
import {
  deleteSigningKeys,
  insertSigningKey,
  listSigningKeys,
  lockSigningKeys,
  type SigningKeyRow,
} from './store/signing-keys.ts';

const generateKeyPair = promisify(generateKeyPairCallback);

export type SigningKey = {
  kid: string;
  alg: Algorithm;
  publicJwk: JsonWebKey;
  publicKey: KeyObject;
  privateKey: KeyObject;
  activatesAt: Date;
  /** The encoded header of each kind of token this key signs. */
  headers: Record<TokenType, string>;
};

/** What a token is for. It stands in the header, so that one kind can never pass for another (RFC 8725, 3.11). */
const tokenTypes = ['at+jwt', 'JWT', 'logout+jwt'] as const;
export type TokenType = (typeof tokenTypes)[number];

export type Keyring = {
  signingKey(alg: Algorithm): SigningKey;
  /**
   * Also a key that another node has made since the last reading. One that is no longer published checks ID tokens
   * alone, which are good as hints for long: whoever has stolen it can sign nobody in with it.
   */
  verificationKey(kid: string, type: TokenType): Promise<SigningKey | undefined>;
  /** The public keys as partners fetch them. */
  keySet(): { body: string; etag: string };
  reload(): Promise<void>;
  close(): void;
};

const rereadMs = 60_000;
/** An unknown `kid` may be made up: it causes a read at most this often. */
const rereadForUnknownMs = 5_000;

/** The signing keys of the service, as the database has them; every node sees the same. */
export async function openKeyring(options: {
  db: Database;
  wrappingKey: PurposeKey;
  now: () => Date;
  onError: (error: unknown) => void;
}): Promise<Keyring> {
  const { db, wrappingKey, now } = options;
  let keys = new Map<string, SigningKey>();
  let published = new Map<string, Date>();
  let readAt = 0;

  const reload = async () => {
    readAt = performance.now();
    const rows = await listSigningKeys(db);
    keys = new Map(rows.map((row) => [row.kid, keys.get(row.kid) ?? openKey(row, wrappingKey)]));
    published = new Map(rows.map((row) => [row.kid, publishedUntil(rows, row)]));
  };
  await rotateKeys({ db, wrappingKey, now });
  await reload();
  const timer = setInterval(() => reload().catch(options.onError), rereadMs);
  timer.unref();

  return {
    signingKey(alg) {
      const key = currentKey([...keys.values()], alg, now());
      if (!key) throw new Error(`no current ${alg} key`);
      return key;
    },
    async verificationKey(kid, type) {
      if (!keys.has(kid) && performance.now() - readAt >= rereadForUnknownMs) await reload();
      return type === 'JWT' || now() < (published.get(kid) ?? 0) ? keys.get(kid) : undefined;
    },
    keySet() {
      const published = publishedKeys([...keys.values()], now());
      const body = JSON.stringify({
        keys: published.map(({ kid, alg, publicJwk }) => ({ ...publicJwk, kid, alg, use: 'sig' })),
      });
      return { body, etag: `"${createHash('sha256').update(body).digest('base64url').slice(0, 27)}"` };
    },
    reload,
    close: () => clearInterval(timer),
  };
}

/**
 * Makes what is missing: the first keys, and successors when their time has come. Any number of nodes may call it
 * at once. `force` makes successors now; they are published at once and sign when everybody has had time to see them.
 */
export async function rotateKeys(options: {
  db: Database;
  wrappingKey: PurposeKey;
  now: () => Date;
  force?: boolean;
  /** Who asks for it; without one it is the schedule. */
  actor?: string;
}): Promise<string[]> {
  const now = options.now();
  const planned = await plan(options.db, now, options.force);
  if (!options.force && planned.length === 0) return [];
  // Before the transaction: on a busy machine an RSA key takes longer than a transaction may stand still.
  const pairs = new Map<Algorithm, KeyPair>();
  for (const { alg } of planned) pairs.set(alg, await newKeyPair(alg));
  return options.db.transaction(async (tx) => {
    await lockSigningKeys(tx);
    // No server could start any more with keys of two secrets.
    for (const row of await listSigningKeys(tx)) openPrivate(row, options.wrappingKey);
    const made: string[] = [];
    for (const { alg, activatesAt } of await plan(tx, now, options.force)) {
      const pair = pairs.get(alg) ?? (await newKeyPair(alg));
      const key = sealedKey(pair, alg, { createdAt: now, activatesAt, wrappingKey: options.wrappingKey });
      await insertSigningKey(tx, key);
      made.push(key.kid);
    }
    await deleteSigningKeys(
      tx,
      forgottenKeys(await listSigningKeys(tx), now).map((key) => key.kid),
    );
    if (made.length > 0) {
      const actor = options.actor ?? 'schedule';
      await writeAudit(tx, { at: now, actor, action: 'keys.rotated', details: { kids: made } });
    }
    return made;
  });
}

/** The keys as an operator may see them: which of them sign, and whether they can be opened with our secret. */
export async function inspectKeys(db: Queryable, wrappingKey: PurposeKey, now: Date) {
  const rows = await listSigningKeys(db);
  return {
    keys: keyStates(rows, now).map(({ key, state, signsUntil }) => ({
      kid: key.kid,
      alg: key.alg,
      state,
      createdAt: key.createdAt,
      activatesAt: key.activatesAt,
      signsUntil: signsUntil ?? null,
      opens: unseal(wrappingKey, key.privateSealed, key.kid) !== undefined,
    })),
    next: algorithms.map((alg) => ({ alg, at: nextRotation(rows, alg, now) ?? null })),
  };
}

async function plan(
  db: Queryable,
  now: Date,
  force = false,
): Promise<{ alg: Algorithm; activatesAt: Date }[]> {
  const keys = await listSigningKeys(db);
  return algorithms.flatMap((alg) => {
    const waiting = keys.some((key) => key.alg === alg && key.activatesAt > now);
    const due = successorDue(keys, alg, now);
    if (due) return [{ alg, activatesAt: due }];
    return force && !waiting ? [{ alg, activatesAt: new Date(now.getTime() + publishAheadMs) }] : [];
  });
}

type KeyPair = { publicKey: KeyObject; privateKey: KeyObject };

function sealedKey(
  { publicKey, privateKey }: KeyPair,
  alg: Algorithm,
  { createdAt, activatesAt, wrappingKey }: { createdAt: Date; activatesAt: Date; wrappingKey: PurposeKey },
): SigningKeyRow {
  const kid = randomUUID();
  const privateSealed = seal(wrappingKey, privateKey.export({ type: 'pkcs8', format: 'der' }), kid);
  return { kid, alg, publicJwk: publicKey.export({ format: 'jwk' }), privateSealed, createdAt, activatesAt };
}

function newKeyPair(alg: Algorithm): Promise<KeyPair> {
  switch (alg) {
    case 'ES256':
      return generateKeyPair('ec', { namedCurve: 'P-256' });
    case 'EdDSA':
      return generateKeyPair('ed25519');
    case 'RS256':
      return generateKeyPair('rsa', { modulusLength: 2048 });
  }
}

function openPrivate(row: SigningKeyRow, wrappingKey: PurposeKey): Buffer {
  const der = unseal(wrappingKey, row.privateSealed, row.kid);
  if (der) return der;
  throw new Error(
    `Signing key ${row.kid} cannot be opened: KEYS_SECRET is not the one it was encrypted with.`,
  );
}

function openKey(row: SigningKeyRow, wrappingKey: PurposeKey): SigningKey {
  const der = openPrivate(row, wrappingKey);
  return {
    kid: row.kid,
    alg: row.alg,
    publicJwk: row.publicJwk,
    publicKey: createPublicKey({ key: row.publicJwk, format: 'jwk' }),
    privateKey: createPrivateKey({ key: der, format: 'der', type: 'pkcs8' }),
    activatesAt: row.activatesAt,
    headers: Object.fromEntries(
      tokenTypes.map((type) => [type, headerOf(row, type)]),
    ) as SigningKey['headers'],
  };
}

function headerOf({ alg, kid }: SigningKeyRow, typ: TokenType): string {
  return Buffer.from(JSON.stringify({ alg, typ, kid })).toString('base64url');
}
