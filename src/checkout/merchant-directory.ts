import type { Queryable } from '../platform/db.ts';
import { findMerchant, type Merchant } from './store/merchants.ts';

export type MerchantDirectory = { find(merchantId: string): Promise<Merchant | undefined> };

/** Terms change rarely and every payment needs them, so each merchant is read at most once a second. */
const freshForMs = 1_000;
const mostKept = 10_000;

export function createMerchantDirectory(db: Queryable): MerchantDirectory {
  const known = new Map<string, { merchant: Promise<Merchant | undefined>; readAt: number }>();
  return {
    find(merchantId) {
      const now = performance.now();
      const entry = known.get(merchantId);
      if (entry && now - entry.readAt < freshForMs) return entry.merchant;
      const merchant = findMerchant(db, merchantId);
      if (known.size >= mostKept) known.clear();
      known.set(merchantId, { merchant, readAt: now });
      merchant.catch(() => known.delete(merchantId));
      return merchant;
    },
  };
}
