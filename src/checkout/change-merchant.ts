import type { Database, Transaction } from '../platform/db.ts';
import { OperatorRefusal } from '../platform/operator-refusal.ts';
import { balanceBelow, type MerchantFault, merchantFaults, terminalFaults } from './domain/merchant-terms.ts';
import { type Theme, themeFaults } from './domain/theme.ts';
import { writeAudit } from './store/audit.ts';
import { listBalances } from './store/ledger.ts';
import {
  lockMerchant,
  type MerchantTerms,
  setMerchantDisabledAt,
  setMerchantTerms,
} from './store/merchant-terms.ts';
import { findMerchant, insertMerchant, insertTerminal, setMerchantTheme } from './store/merchants.ts';
import { listTerminals, setTerminalDisabledAt } from './store/terminals.ts';

export type MerchantDeps = { db: Database; now: () => Date };
type Named = { merchantId: string; actor: string };

/** A value that a merchant or a terminal cannot have. */
class MerchantRefused extends OperatorRefusal {
  override readonly name = 'MerchantRefused';
  readonly faults: MerchantFault[];

  constructor(faults: MerchantFault[]) {
    super('given', faults.map((fault) => `${fault.field}: ${fault.detail}`).join('\n'));
    this.faults = faults;
  }
}

export async function createMerchant(
  deps: MerchantDeps,
  { actor, ...merchant }: Named & MerchantTerms,
): Promise<void> {
  const faults = merchantFaults(merchant);
  if (faults.length > 0) throw new MerchantRefused(faults);
  const { merchantId, name } = merchant;
  await deps.db.transaction(async (tx) => {
    const at = deps.now();
    if (!(await insertMerchant(tx, merchant, at))) {
      throw new OperatorRefusal(
        'found',
        `There is a merchant ${merchantId} already; choose another identifier.`,
      );
    }
    await writeAudit(tx, {
      merchantId,
      at,
      actor,
      action: 'merchant.created',
      object: merchantId,
      details: { name },
    });
  });
}

/** Changes what is given and leaves the rest; tells the names of what changed. */
export async function changeMerchant(
  deps: MerchantDeps,
  { merchantId, actor, changes }: Named & { changes: Partial<MerchantTerms> },
): Promise<string[]> {
  return deps.db.transaction(async (tx) => {
    const before = await lockKnownMerchant(tx, merchantId);
    const after = { ...before, ...changes };
    const faults = merchantFaults(after);
    if (faults.length > 0) throw new MerchantRefused(faults);
    if (after.balanceFloor > before.balanceFloor)
      await refuseFloorAboveBalance(tx, merchantId, after.balanceFloor);
    const fields = (Object.keys(changes) as (keyof MerchantTerms)[]).filter(
      (field) => String(before[field]) !== String(after[field]),
    );
    if (fields.length === 0) return [];
    await setMerchantTerms(tx, merchantId, after);
    const details = Object.fromEntries(fields.map((field) => [field, `${before[field]} to ${after[field]}`]));
    await writeAudit(tx, {
      merchantId,
      at: deps.now(),
      actor,
      action: 'merchant.changed',
      object: merchantId,
      details,
    });
    return fields;
  });
}

/** A balance below its floor is what verify-ledger reports as a breach, so no floor is put above one. */
async function refuseFloorAboveBalance(tx: Transaction, merchantId: string, floor: bigint): Promise<void> {
  const below = balanceBelow(floor, await listBalances(tx, merchantId));
  if (below) {
    throw new OperatorRefusal('found', `The merchant's balance is ${below}; choose a floor at or below it.`);
  }
}

/** Changes the look of a merchant's payment page; what is not given stays. Tells the names of what changed. */
export async function changeTheme(
  deps: MerchantDeps,
  { merchantId, actor, changes }: Named & { changes: Partial<Theme> },
): Promise<string[]> {
  return deps.db.transaction(async (tx) => {
    await lockKnownMerchant(tx, merchantId);
    const before = await findMerchant(tx, merchantId);
    if (!before) throw merchantNotFound(merchantId);
    const after = { logo: before.logo, accent: before.accent, ...changes };
    const faults = themeFaults(after);
    if (faults.length > 0) throw new MerchantRefused(faults);
    const fields = (Object.keys(changes) as (keyof Theme)[]).filter(
      (field) => before[field] !== after[field],
    );
    if (fields.length === 0) return [];
    await setMerchantTheme(tx, merchantId, after);
    const entry = { merchantId, at: deps.now(), actor, object: merchantId };
    await writeAudit(tx, { ...entry, action: 'merchant.theme_changed', details: { fields } });
    return fields;
  });
}

/** Shuts a merchant's programs out, or lets them in again. False when it was so before. */
export async function switchMerchant(
  deps: MerchantDeps,
  { merchantId, actor, enabled }: Named & { enabled: boolean },
): Promise<boolean> {
  return deps.db.transaction(async (tx) => {
    const merchant = await lockKnownMerchant(tx, merchantId);
    if ((merchant.disabledAt === null) === enabled) return false;
    const at = deps.now();
    await setMerchantDisabledAt(tx, merchantId, enabled ? null : at);
    const action = enabled ? 'merchant.enabled' : 'merchant.disabled';
    await writeAudit(tx, { merchantId, at, actor, action, object: merchantId });
    return true;
  });
}

export async function addTerminal(
  deps: MerchantDeps,
  { merchantId, terminalId, currencies, actor }: Named & { terminalId: string; currencies: string[] },
): Promise<void> {
  const faults = terminalFaults({ terminalId, currencies });
  if (faults.length > 0) throw new MerchantRefused(faults);
  await deps.db.transaction(async (tx) => {
    await lockKnownMerchant(tx, merchantId);
    const at = deps.now();
    if (!(await insertTerminal(tx, { merchantId, terminalId, currencies }, at))) {
      throw new OperatorRefusal(
        'found',
        `The merchant ${merchantId} has a terminal ${terminalId} already; choose another identifier.`,
      );
    }
    const details = { currencies };
    await writeAudit(tx, { merchantId, at, actor, action: 'terminal.added', object: terminalId, details });
  });
}

/** A terminal that is off takes no new payments. False when it was so before. */
export async function switchTerminal(
  deps: MerchantDeps,
  { merchantId, terminalId, actor, enabled }: Named & { terminalId: string; enabled: boolean },
): Promise<boolean> {
  return deps.db.transaction(async (tx) => {
    await lockKnownMerchant(tx, merchantId);
    const known = await listTerminals(tx, merchantId);
    if (!known.some((terminal) => terminal.terminalId === terminalId)) {
      throw new OperatorRefusal(
        'found',
        `The merchant ${merchantId} has no terminal ${terminalId}; see them with: tollgate terminal list ${merchantId}`,
      );
    }
    const at = deps.now();
    const changed = await setTerminalDisabledAt(tx, { merchantId, terminalId }, enabled ? null : at);
    const action = enabled ? 'terminal.enabled' : 'terminal.disabled';
    if (changed) await writeAudit(tx, { merchantId, at, actor, action, object: terminalId });
    return changed;
  });
}

async function lockKnownMerchant(tx: Transaction, merchantId: string) {
  const merchant = await lockMerchant(tx, merchantId);
  if (!merchant) throw merchantNotFound(merchantId);
  return merchant;
}

export function merchantNotFound(merchantId: string): OperatorRefusal {
  return new OperatorRefusal(
    'found',
    `There is no merchant ${merchantId}; see them all with: tollgate merchant list`,
  );
}
