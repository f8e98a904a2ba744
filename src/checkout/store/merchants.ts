import { type Queryable, sql, type Transaction } from '../../platform/db.ts';

export type Merchant = {
  merchantId: string;
  name: string;
  returnUrlOrigins: string[];
  feeBasisPoints: number;
  feeFixed: bigint;
  balanceFloor: bigint;
  requestsPerSecond: number;
  disabledAt: Date | null;
  terminals: { terminalId: string; currencies: string[] }[];
};

/** A merchant with the terminals that are in use. */
export async function findMerchant(db: Queryable, merchantId: string): Promise<Merchant | undefined> {
  return db.maybeOne<Merchant>(sql`
    select m.merchant_id, m.name, m.return_url_origins, m.fee_basis_points, m.fee_fixed, m.balance_floor,
      m.requests_per_second, m.disabled_at,
      coalesce((
        select jsonb_agg(jsonb_build_object('terminalId', t.terminal_id, 'currencies', t.currencies))
        from checkout.terminals t where t.merchant_id = m.merchant_id and t.disabled_at is null
      ), '[]'::jsonb) as terminals
    from checkout.merchants m where m.merchant_id = ${merchantId}`);
}

export async function insertMerchant(
  db: Queryable,
  merchant: Omit<Merchant, 'disabledAt' | 'terminals'>,
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

export type MerchantTerms = Pick<
  Merchant,
  'name' | 'returnUrlOrigins' | 'feeBasisPoints' | 'feeFixed' | 'balanceFloor' | 'requestsPerSecond'
>;
/** A merchant without what belongs to it. */
export type MerchantRow = MerchantTerms & Pick<Merchant, 'merchantId' | 'disabledAt'>;

export async function lockMerchant(tx: Transaction, merchantId: string): Promise<MerchantRow | undefined> {
  return tx.maybeOne<MerchantRow>(sql`
    select merchant_id, name, return_url_origins, fee_basis_points, fee_fixed, balance_floor, requests_per_second,
      disabled_at
    from checkout.merchants where merchant_id = ${merchantId} for no key update`);
}

export async function listMerchants(db: Queryable): Promise<MerchantRow[]> {
  return db.many<MerchantRow>(sql`
    select merchant_id, name, return_url_origins, fee_basis_points, fee_fixed, balance_floor, requests_per_second,
      disabled_at
    from checkout.merchants order by merchant_id`);
}

export async function setMerchantTerms(
  tx: Transaction,
  merchantId: string,
  terms: MerchantTerms,
): Promise<void> {
  await tx.run(sql`
    update checkout.merchants set name = ${terms.name}, return_url_origins = ${terms.returnUrlOrigins},
      fee_basis_points = ${terms.feeBasisPoints}, fee_fixed = ${terms.feeFixed},
      balance_floor = ${terms.balanceFloor}, requests_per_second = ${terms.requestsPerSecond}
    where merchant_id = ${merchantId}`);
}

export async function setMerchantDisabledAt(
  tx: Transaction,
  merchantId: string,
  at: Date | null,
): Promise<void> {
  await tx.run(sql`update checkout.merchants set disabled_at = ${at} where merchant_id = ${merchantId}`);
}

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
