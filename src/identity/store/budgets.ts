import { type Queryable, sql, type Transaction } from '../../platform/db.ts';

/** `key` must not name a person or an address in the clear: the table is read by whoever holds a backup. */
export type Budget = { key: string; max: number; windowMs: number };
export type Taken = { ok: true } | { ok: false; key: string; retryAt: Date };

/**
 * Takes one from each budget, or nothing from any. Up to a maximum of 50 the window slides exactly; beyond it is a
 * fixed one that begins with its first use. When several refuse, the answer is the one that is free again last.
 */
export async function takeBudgets(db: Queryable, budgets: readonly Budget[], now: Date): Promise<Taken> {
  const refused = await db.maybeOne<{ refusedKey: string; retryAt: Date }>(sql`
    select * from identity.take_budgets(
      ${budgets.map((budget) => budget.key)}, ${budgets.map((budget) => budget.max)},
      ${budgets.map((budget) => budget.windowMs)}, ${now})`);
  return refused ? { ok: false, key: refused.refusedKey, retryAt: refused.retryAt } : { ok: true };
}

/** Undoes what was taken at that instant, when the thing it was taken for did not happen. */
export async function giveBack(db: Queryable, keys: readonly string[], takenAt: Date): Promise<void> {
  await db.run(sql`
    with held as (
      select key, array_position(hits, ${takenAt}) as place
      from identity.budgets where key = any(${keys}) order by key collate "C" for update
    )
    update identity.budgets b set
      hits = case when place is null then hits else hits[:place - 1] || hits[place + 1:] end,
      spent = case when place is null and window_start <= ${takenAt} then greatest(spent - 1, 0) else spent end
    from held where b.key = held.key`);
}

/** The instants kept under a key. The row, made if need be, is held until the transaction ends. */
export async function lockHits(tx: Transaction, key: string, now: Date): Promise<Date[]> {
  const { hits } = await tx.one<{ hits: Date[] }>(sql`
    insert into identity.budgets as b (key, window_start, expires_at) values (${key}, ${now}, ${now})
    on conflict (key) do update set expires_at = b.expires_at
    returning hits`);
  return hits;
}
