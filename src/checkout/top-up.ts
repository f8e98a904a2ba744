import { createHash } from 'node:crypto';
import { OperatorRefusal } from '../platform/operator-refusal.ts';
import type { CheckoutDeps } from './deps.ts';
import { formatMoney, type Money } from './domain/money.ts';
import { topUpPosting } from './domain/posting.ts';
import { writeAudit } from './store/audit.ts';
import { postForSure } from './store/ledger.ts';
import { findTopUp, lockTopUps } from './store/wallets.ts';

export type TopUp = {
  userId: string;
  amount: Money;
  /** The funding account that the money comes from. */
  source: string;
  /** The operator's own name for this top-up, such as the number of a bank transfer. */
  reference: string;
  actor: string;
};

/** Money from a named source into a person's wallet. Asked for again under its reference, it does nothing. */
export async function topUpWallet(
  deps: Pick<CheckoutDeps, 'db' | 'now' | 'survivorOf'>,
  { userId, amount, source, reference, actor }: TopUp,
): Promise<{ posted: boolean; walletUserId: string; at: Date }> {
  const id = topUpId(source, reference);
  return deps.db.transaction(async (tx) => {
    await lockTopUps(tx, id);
    const walletUserId = await deps.survivorOf(tx, userId);
    const before = await findTopUp(tx, id);
    if (before) {
      const owner = await deps.survivorOf(tx, before.userId);
      const isSame =
        owner === walletUserId && before.minor === amount.minor && before.currency === amount.currency;
      if (!isSame) {
        const posted = `${formatMoney(before)} ${before.currency} for ${before.userId}`;
        throw new OperatorRefusal(
          'found',
          `The reference ${reference} of ${source} was used for ${posted}; give this top-up a reference of its own.`,
        );
      }
      return { posted: false, walletUserId, at: before.at };
    }
    const at = deps.now();
    await postForSure(tx, topUpPosting({ id, userId: walletUserId, amount, source }), at);
    const details = { amount: formatMoney(amount), currency: amount.currency, source, reference };
    await writeAudit(tx, { at, actor, action: 'wallet.topped_up', object: walletUserId, details });
    return { posted: true, walletUserId, at };
  });
}

/** The ledger names its events by UUID: this one follows from the operator's own words. */
function topUpId(source: string, reference: string): string {
  const hash = createHash('sha256')
    .update(JSON.stringify(['wallet top-up', source, reference]))
    .digest();
  // RFC 9562, version 8: made by a rule of our own.
  hash[6] = 0x80 | ((hash[6] as number) & 0x0f);
  hash[8] = 0x80 | ((hash[8] as number) & 0x3f);
  return hash
    .subarray(0, 16)
    .toString('hex')
    .replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
