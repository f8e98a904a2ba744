import type { Queryable } from '../platform/db.ts';
import { readOnceASecond } from '../platform/recent-reads.ts';
import { findMerchant, type Merchant } from './store/merchants.ts';

export type MerchantDirectory = { find(merchantId: string): Promise<Merchant | undefined> };

/** Terms change rarely and every payment needs them. */
export function createMerchantDirectory(db: Queryable): MerchantDirectory {
  return { find: readOnceASecond((merchantId) => findMerchant(db, merchantId)) };
}
