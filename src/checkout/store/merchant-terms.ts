import { type Queryable, sql, type Transaction } from '../../platform/db.ts';
import type { Merchant } from './merchants.ts';

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
