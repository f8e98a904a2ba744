import type { AuditDetails, AuditFilter, AuditRow } from '../../platform/audit.ts';
import { type Queryable, sql, type Transaction } from '../../platform/db.ts';

export type AuditEntry = {
  /** Left out when no merchant takes part. */
  merchantId?: string;
  at: Date;
  actor: string;
  action: string;
  /** The merchant, the terminal or the person it was done to. */
  object: string;
  details?: AuditDetails;
};

/** Takes a transaction: the entry exists exactly when what it tells of does. */
export async function writeAudit(tx: Transaction, entry: AuditEntry): Promise<void> {
  await tx.run(sql`
    insert into checkout.audit (merchant_id, at, actor, action, object, details)
    values (${entry.merchantId ?? '*'}, ${entry.at}, ${entry.actor}, ${entry.action}, ${entry.object},
      ${JSON.stringify(entry.details ?? {})}::jsonb)`);
}

/** The newest that fit, newest first. */
export async function listAudit(db: Queryable, filter: AuditFilter): Promise<AuditRow[]> {
  return db.many<AuditRow>(sql`
    select audit_id, at, actor, action, object, details
    from checkout.audit
    where (${filter.since}::timestamptz is null or at >= ${filter.since}::timestamptz)
      and (${filter.actor}::text is null or actor = ${filter.actor}::text)
      and (${filter.action}::text is null or action = ${filter.action}::text)
      and (${filter.object}::text is null or ${filter.object}::text in (object, merchant_id))
    order by at desc, audit_id desc limit ${filter.limit}`);
}
