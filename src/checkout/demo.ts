import type { CheckoutDeps } from './deps.ts';
import { topUpPosting } from './domain/posting.ts';
import { writeAudit } from './store/audit.ts';
import { post } from './store/ledger.ts';
import { insertMerchant, insertTerminal } from './store/merchants.ts';

export type DemoMerchant = { merchantId: string; terminalId: string; returnUrlOrigins: string[] };

/** One posting for each event: the same top-up is never posted twice. */
const topUpId = '0b6f2b1e-8c0a-4f8e-9d6b-5a1c7a1fa001';

/** Loads the merchant that the first page promises, and money into the demo person's wallet. */
export async function seedCheckout(
  deps: Pick<CheckoutDeps, 'db' | 'now'>,
  demo: { merchant: DemoMerchant; walletUserId: string; actor: string },
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
  const amount = { minor: 500_00n, currency: 'AZN' };
  const topUp = topUpPosting({ id: topUpId, userId: demo.walletUserId, amount, source: 'demo' });
  await deps.db.transaction(async (tx) => {
    if (!(await insertMerchant(tx, merchant, at))) return;
    await insertTerminal(tx, { merchantId, terminalId, currencies: ['AZN', 'USD', 'EUR'] }, at);
    await post(tx, topUp, at);
    const details = { terminalId, walletUserId: demo.walletUserId };
    await writeAudit(tx, {
      merchantId,
      at,
      actor: demo.actor,
      action: 'demo.seeded',
      object: merchantId,
      details,
    });
  });
}
