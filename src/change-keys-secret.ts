import { deriveIdentityKeys } from './identity/derive-keys.ts';
import type { UserId } from './identity/domain/user.ts';
import { writeAudit } from './identity/store/audit.ts';
import { closeSigningKeys, listSigningKeys, saveSealedKey } from './identity/store/signing-keys.ts';
import { lockUsers, resealDocuments } from './identity/store/users.ts';
import { type Database, sql, type Transaction } from './platform/db.ts';
import { OperatorRefusal } from './platform/operator-refusal.ts';
import { reseal, WrongKey } from './platform/seal.ts';
import { resealSecrets } from './webhooks/store/endpoints.ts';
import { webhookSecretsKey } from './webhooks/webhooks.ts';

export type Resealed = { signingKeys: number; peopleWithDocuments: number; webhookEndpoints: number };

const peopleAtOnce = 2_000;

/** Seals all that the database keeps under one secret with another: everything, or nothing. */
export async function changeKeysSecret(options: {
  db: Database;
  from: string;
  to: string;
  now: () => Date;
  actor: string;
  onProgress(people: number): void;
}): Promise<Resealed> {
  const { from, to, actor } = options;
  const [before, after] = [deriveIdentityKeys(from), deriveIdentityKeys(to)];
  const work = async (tx: Transaction): Promise<Resealed> => {
    await refuseBesideOthers(tx);
    await closeSigningKeys(tx);
    await lockUsers(tx);
    // Again: one that came before the keys were closed has them open.
    await refuseBesideOthers(tx);
    const signingKeys = await listSigningKeys(tx);
    for (const { kid, privateSealed } of signingKeys) {
      const keys = { from: before.signing, to: after.signing };
      await saveSealedKey(tx, { kid, privateSealed: reseal(keys, privateSealed, kid) });
    }
    const webhookEndpoints = await resealSecrets(tx, {
      from: webhookSecretsKey(from),
      to: webhookSecretsKey(to),
    });
    const documents = { from: before.documents, to: after.documents };
    const peopleWithDocuments = await resealAllDocuments(tx, documents, options.onProgress);
    const resealed = { signingKeys: signingKeys.length, peopleWithDocuments, webhookEndpoints };
    await writeAudit(tx, {
      at: options.now(),
      actor,
      action: 'keys.secret_changed',
      details: resealed,
    });
    return resealed;
  };
  return options.db.transaction(work).catch((error: unknown) => {
    throw error instanceof WrongKey ? otherSecret() : error;
  });
}

export function otherSecret(): OperatorRefusal {
  return new OperatorRefusal(
    'found',
    'KEYS_SECRET is not the one that the database is sealed with; nothing was changed. Set it to the one that the servers were started with.',
  );
}

async function resealAllDocuments(
  tx: Transaction,
  keys: Parameters<typeof resealDocuments>[1],
  onProgress: (people: number) => void,
): Promise<number> {
  let people = 0;
  let after: UserId | undefined = '00000000-0000-0000-0000-000000000000' as UserId;
  while (after) {
    const { resealed, last }: Awaited<ReturnType<typeof resealDocuments>> = await resealDocuments(tx, keys, {
      after,
      limit: peopleAtOnce,
    });
    people += resealed;
    onProgress(people);
    after = last;
  }
  return people;
}

/** A server goes on with the secret that it was started with: what it reads and seals would be lost to it, or to us. */
async function refuseBesideOthers(tx: Transaction): Promise<void> {
  // Within a transaction PostgreSQL would go on showing what the first look has seen.
  await tx.run(sql`select pg_stat_clear_snapshot()`);
  const { connected } = await tx.one<{ connected: boolean }>(sql`
    select exists (select from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid()
        and application_name in ('tollgate', 'tollgate jobs', 'tollgate job owner')) as connected`);
  if (!connected) return;
  throw new OperatorRefusal(
    'found',
    'A server or another command is connected to the database; stop them all, then try again.',
  );
}
