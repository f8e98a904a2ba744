import type { Transaction } from '../platform/db.ts';
import type { CheckoutDeps } from './deps.ts';
import { walletMovePosting } from './domain/posting.ts';
import { listWallets, postForSure } from './store/ledger.ts';

/**
 * What a merged person had in wallets goes to the survivor, in the transaction of the merge. Whoever pays, refunds or
 * captures at the same time holds the person's row until they are done, so nothing arrives after the move.
 */
export async function moveWallets(
  deps: Pick<CheckoutDeps, 'now' | 'newId'>,
  tx: Transaction,
  merged: { survivorId: string; absorbedId: string },
): Promise<void> {
  for (const { currency, balance } of await listWallets(tx, merged.absorbedId)) {
    const amount = { minor: balance, currency };
    const move = walletMovePosting({
      id: deps.newId(),
      from: merged.absorbedId,
      to: merged.survivorId,
      amount,
    });
    await postForSure(tx, move, deps.now());
  }
}
