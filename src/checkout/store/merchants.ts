import { type Queryable, sql } from '../../platform/db.ts';
import type { MerchantSettings } from '../domain/merchant-terms.ts';
import type { Theme } from '../domain/theme.ts';

export type Merchant = MerchantSettings & {
  merchantId: string;
  logo: string | null;
  accent: string | null;
  disabledAt: Date | null;
  terminals: { terminalId: string; currencies: string[] }[];
};

/** A merchant with the terminals that are in use. */
export async function findMerchant(db: Queryable, merchantId: string): Promise<Merchant | undefined> {
  return db.maybeOne<Merchant>(sql`
    select m.merchant_id, m.name, m.return_url_origins, m.fee_basis_points, m.fee_fixed, m.balance_floor,
      m.requests_per_second, m.logo, m.accent, m.disabled_at,
      coalesce((
        select jsonb_agg(jsonb_build_object('terminalId', t.terminal_id, 'currencies', t.currencies))
        from checkout.terminals t where t.merchant_id = m.merchant_id and t.disabled_at is null
      ), '[]'::jsonb) as terminals
    from checkout.merchants m where m.merchant_id = ${merchantId}`);
}

export async function insertMerchant(
  db: Queryable,
  merchant: Omit<Merchant, 'logo' | 'accent' | 'disabledAt' | 'terminals'>,
  createdAt: Date,
): Promise<boolean> {
  const inserted = await db.run(sql`
    insert into checkout.merchants (merchant_id, name, return_url_origins, fee_basis_points, fee_fixed, balance_floor,
      requests_per_second, created_at)
    values (${merchant.merchantId}, ${merchant.name}, ${merchant.returnUrlOrigins}, ${merchant.feeBasisPoints},
      ${merchant.feeFixed}, ${merchant.balanceFloor}, ${merchant.requestsPerSecond}, ${createdAt})
    on conflict do nothing`);
  return inserted === 1;
}

export async function insertTerminal(
  db: Queryable,
  terminal: { merchantId: string; terminalId: string; currencies: string[] },
  createdAt: Date,
): Promise<boolean> {
  const inserted = await db.run(sql`
    insert into checkout.terminals (merchant_id, terminal_id, currencies, created_at)
    values (${terminal.merchantId}, ${terminal.terminalId}, ${terminal.currencies}, ${createdAt})
    on conflict do nothing`);
  return inserted === 1;
}

export async function setMerchantTheme(db: Queryable, merchantId: string, theme: Theme): Promise<boolean> {
  const changed = await db.run(sql`
    update checkout.merchants set logo = ${theme.logo}, accent = ${theme.accent} where merchant_id = ${merchantId}`);
  return changed === 1;
}
