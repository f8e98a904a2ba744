import { sql, type Transaction } from '../../platform/db.ts';
import type { UserId } from '../domain/user.ts';

export type AuditEntry = {
  /** Left out when it is not about a person. */
  userId?: UserId;
  at: Date;
  actor: string;
  action: string;
  /** Names and counts. Never a secret, never a document number: of a changed field only its name. */
  details?: Record<string, string | number | boolean | readonly string[]>;
};

const nobody = '00000000-0000-0000-0000-000000000000';

/** Takes a transaction: the entry exists exactly when what it tells of does. */
export async function writeAudit(tx: Transaction, entry: AuditEntry): Promise<void> {
  await tx.run(sql`
    insert into identity.audit (user_id, at, actor, action, details)
    values (${entry.userId ?? nobody}, ${entry.at}, ${entry.actor}, ${entry.action},
      ${JSON.stringify(entry.details ?? {})}::jsonb)`);
}
