import type { Database, Queryable } from '../platform/db.ts';
import type { Logger } from '../platform/log.ts';
import type { PurposeKey } from '../platform/seal.ts';
import type { Acquirer } from './domain/acquirer.ts';
import type { MerchantDirectory } from './merchant-directory.ts';
import type { WalletSignIn } from './wallet-sign-in.ts';

/** Who a merchant's program is, as the identity part has proven it. */
export type MerchantCaller = { merchantId: string; scopes: string[] };
export type CallerProof =
  | { ok: true; caller: MerchantCaller }
  | { ok: false; reason: 'missing' | 'invalid' }
  | { ok: false; reason: 'blocked'; until: Date };

/** What checkout works with. Built once in `app.ts` and passed by hand. */
export type CheckoutDeps = {
  db: Database;
  log: Logger;
  now: () => Date;
  newId: () => string;
  /** Outside production every payment is a test. */
  test: boolean;
  checkoutUrl: string;
  baseUrl: string;
  confirmationKey: PurposeKey;
  merchants: MerchantDirectory;
  acquirer: Acquirer;
  /** False where only wallets pay. */
  takesCards: boolean;
  walletSignIn: WalletSignIn;
  /** What the cookies of a sign-in to the wallet are sealed with. */
  walletKey: PurposeKey;
  authenticate: (header: string | undefined, address: string) => Promise<CallerProof>;
  /**
   * The account that a person's money belongs to now, after whatever merges. Read on the caller's connection: one that
   * holds a connection and waits for a second can wait for itself.
   */
  survivorOf: (db: Queryable, userId: string) => Promise<string>;
};
