import type { CheckoutDeps } from './deps.ts';
import { topUpPosting } from './domain/posting.ts';
import { post } from './store/ledger.ts';
import { insertMerchant, insertTerminal } from './store/merchants.ts';

export type DemoMerchant = { merchantId: string; terminalId: string; returnUrlOrigins: string[] };

/** One posting for each event: the same top-up is never posted twice. */
const topUpId = '0b6f2b1e-8c0a-4f8e-9d6b-5a1c7a1fa001';

/** Loads the merchant that the first page promises, and money into the demo person's wallet. */
export async function seedCheckout(
  deps: CheckoutDeps,
  demo: { merchant: DemoMerchant; walletUserId: string },
): Promise<void> {
  const at = deps.now();
  const { merchantId, terminalId, returnUrlOrigins } = demo.merchant;
  const merchant = {
    merchantId,
    name: 'Demo Shop',
    returnUrlOrigins,
    feeBasisPoints: 0,
    feeFixed: 0n,
    balanceFloor: 0n,
    requestsPerSecond: 100,
  };
  if (!(await insertMerchant(deps.db, merchant, at))) return;
  await insertTerminal(deps.db, { merchantId, terminalId, currencies: ['AZN', 'USD', 'EUR'] }, at);
  const amount = { minor: 500_00n, currency: 'AZN' };
  const topUp = topUpPosting({ id: topUpId, userId: demo.walletUserId, amount, source: 'demo' });
  await deps.db.transaction((tx) => post(tx, topUp, at));
}
