import type { JsonWebKey } from 'node:crypto';
import { type Queryable, sql, type Transaction } from '../../platform/db.ts';
import type { Algorithm } from '../domain/algorithm.ts';

export type SigningKeyRow = {
  kid: string;
  alg: Algorithm;
  publicJwk: JsonWebKey;
  privateSealed: Buffer;
  createdAt: Date;
  activatesAt: Date;
};

export async function listSigningKeys(db: Queryable): Promise<SigningKeyRow[]> {
  return db.many<SigningKeyRow>(sql`
    select kid, alg, public_jwk, private_sealed, created_at, activates_at
    from identity.signing_keys order by activates_at`);
}

/** Lets one node at a time change the keys, so that two never make a successor each. */
export async function lockSigningKeys(tx: Transaction): Promise<void> {
  await tx.run(sql`lock table identity.signing_keys in exclusive mode`);
}

/** Lets nobody even read the keys until the transaction ends: a server that starts meanwhile waits to open them. */
export async function closeSigningKeys(tx: Transaction): Promise<void> {
  await tx.run(sql`lock table identity.signing_keys in access exclusive mode`);
}

export async function insertSigningKey(tx: Transaction, key: SigningKeyRow): Promise<void> {
  await tx.run(sql`
    insert into identity.signing_keys (kid, alg, public_jwk, private_sealed, created_at, activates_at)
    values (${key.kid}, ${key.alg}, ${JSON.stringify(key.publicJwk)}, ${key.privateSealed}, ${key.createdAt},
      ${key.activatesAt})`);
}

export async function saveSealedKey(
  tx: Transaction,
  { kid, privateSealed }: Pick<SigningKeyRow, 'kid' | 'privateSealed'>,
): Promise<void> {
  await tx.run(sql`update identity.signing_keys set private_sealed = ${privateSealed} where kid = ${kid}`);
}

export async function deleteSigningKeys(tx: Transaction, kids: string[]): Promise<void> {
  await tx.run(sql`delete from identity.signing_keys where kid = any(${kids})`);
}
