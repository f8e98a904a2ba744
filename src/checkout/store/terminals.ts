import { type Queryable, sql, type Transaction } from '../../platform/db.ts';

export type Terminal = {
  merchantId: string;
  terminalId: string;
  currencies: string[];
  disabledAt: Date | null;
};

/** Of one merchant, or of all. */
export async function listTerminals(db: Queryable, merchantId: string | null): Promise<Terminal[]> {
  return db.many<Terminal>(sql`
    select merchant_id, terminal_id, currencies, disabled_at from checkout.terminals
    where ${merchantId}::text is null or merchant_id = ${merchantId}::text order by merchant_id, terminal_id`);
}

/** False when it stood like this before. */
export async function setTerminalDisabledAt(
  tx: Transaction,
  terminal: { merchantId: string; terminalId: string },
  at: Date | null,
): Promise<boolean> {
  const changed = await tx.run(sql`
    update checkout.terminals set disabled_at = ${at}
    where merchant_id = ${terminal.merchantId} and terminal_id = ${terminal.terminalId}
      and (disabled_at is null) <> (${at}::timestamptz is null)`);
  return changed === 1;
}
