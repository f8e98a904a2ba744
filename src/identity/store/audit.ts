import type { AuditDetails, AuditFilter, AuditRow } from '../../platform/audit.ts';
import { type Queryable, sql, type Transaction } from '../../platform/db.ts';
import type { UserId } from '../domain/user.ts';

export type AuditEntry = {
  /** Left out when it is not about a person. */
  userId?: UserId;
  at: Date;
  actor: string;
  action: string;
  details?: AuditDetails;
};

const nobody = '00000000-0000-0000-0000-000000000000';

/** Takes a transaction: the entry exists exactly when what it tells of does. */
export async function writeAudit(tx: Transaction, entry: AuditEntry): Promise<void> {
  await tx.run(sql`
    insert into identity.audit (user_id, at, actor, action, details)
    values (${entry.userId ?? nobody}, ${entry.at}, ${entry.actor}, ${entry.action},
      ${JSON.stringify(entry.details ?? {})}::jsonb)`);
}

/** The newest that fit, newest first. */
export async function listAudit(db: Queryable, filter: AuditFilter): Promise<AuditRow[]> {
  return db.many<AuditRow>(sql`
    select audit_id, at, actor, action, details,
      coalesce(nullif(user_id, ${nobody}::uuid)::text, details->>'clientId', '') as object
    from identity.audit
    where (${filter.since}::timestamptz is null or at >= ${filter.since}::timestamptz)
      and (${filter.actor}::text is null or actor = ${filter.actor}::text)
      and (${filter.action}::text is null or action = ${filter.action}::text)
      and (${filter.object}::text is null
        or ${filter.object}::text in (user_id::text, details->>'clientId', details->>'absorbedId'))
    order by at desc, audit_id desc limit ${filter.limit}`);
}
