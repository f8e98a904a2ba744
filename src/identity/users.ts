import type { Database, Transaction } from '../platform/db.ts';
import { OperatorRefusal } from '../platform/operator-refusal.ts';
import type { PurposeKey } from '../platform/seal.ts';
import {
  type Account,
  changedFields,
  decideMerge,
  emptyProfile,
  isPhone,
  type Profile,
  profileFaults,
  type User,
  type UserId,
  type UserRefusalCode,
  userRefusals,
} from './domain/user.ts';
import { tellOfUser } from './partner-events.ts';
import { endSessions } from './session-end.ts';
import { writeAudit } from './store/audit.ts';
import {
  claimPhone,
  findOldUserIds,
  findUser,
  findUserIdByPhone,
  freePhone,
  handOverPhone,
  holdAccountByPhone,
  insertUser,
  lockAccount,
  lockAccountsToMerge,
  lockMerges,
  lockUser,
  moveOldUserIds,
  setActive,
  setMergedInto,
  setPhone,
  setProfile,
} from './store/users.ts';

/** What an operator asked for cannot be done. The message is a sentence for them. */
export class UserRefused extends OperatorRefusal {
  override readonly name = 'UserRefused';
  readonly code: UserRefusalCode;
  /** Of a profile, what it cannot hold. */
  readonly fields: readonly (keyof Profile)[];

  constructor(code: UserRefusalCode, fields: readonly (keyof Profile)[] = []) {
    const about = fields.length > 0 ? ` It is about: ${fields.join(', ')}.` : '';
    super(
      code === 'phone_invalid' || code === 'profile_invalid' ? 'given' : 'found',
      userRefusals[code] + about,
    );
    this.code = code;
    this.fields = fields;
  }
}

export type UserDeps = {
  db: Database;
  now: () => Date;
  newUserId: () => UserId;
  /** The key under which document numbers lie in the database. */
  documentsKey: PurposeKey;
};

type Named = { userId: UserId; actor: string };

/** `id` is for data that has to be the same everywhere, such as the demo people. */
export async function createUser(
  deps: UserDeps,
  given: { phone: string; profile?: Partial<Profile>; id?: UserId; actor: string },
): Promise<UserId> {
  const profile = checkedProfile({ ...emptyProfile, ...given.profile });
  if (!isPhone(given.phone)) throw new UserRefused('phone_invalid');
  const id = given.id ?? deps.newUserId();
  await deps.db.transaction(async (tx) => {
    const at = deps.now();
    if (!(await claimPhone(tx, given.phone, id))) throw new UserRefused('phone_taken');
    const user = { id, phone: given.phone, profile, createdAt: at };
    if (!(await insertUser(tx, deps.documentsKey, user))) throw new UserRefused('user_exists');
    const details = { fields: changedFields(emptyProfile, profile) };
    await writeAudit(tx, { userId: id, at, actor: given.actor, action: 'user.created', details });
  });
  return id;
}

/**
 * The account of a number that has just been proven, made now if there is none. It may turn out not to be active.
 * However many logins of a new number arrive at once, one of them makes the account and the others find it. The
 * account is held until the transaction ends; the session belongs into the same one.
 */
export async function findOrCreateUserByPhone(
  tx: Transaction,
  deps: Omit<UserDeps, 'db'>,
  phone: string,
): Promise<{ account: Account; created: boolean }> {
  if (!isPhone(phone)) throw new Error('a login came without a phone number in E.164');
  // Twice nothing is found and nothing can be claimed only while the number is being moved again and again.
  for (let tries = 0; tries < 5; tries++) {
    const account = await holdAccountByPhone(tx, phone);
    if (account) return { account, created: false };

    const id = deps.newUserId();
    if (!(await claimPhone(tx, phone, id))) continue;
    const at = deps.now();
    await insertUser(tx, deps.documentsKey, { id, phone, profile: emptyProfile, createdAt: at });
    await writeAudit(tx, { userId: id, at, actor: 'login', action: 'user.created', details: { fields: [] } });
    return { account: { id, status: 'active', phone }, created: true };
  }
  throw new Error('a phone number is claimed but its account cannot be found');
}

/** Returns the names of the fields that changed. */
export async function updateProfile(
  deps: UserDeps,
  { userId, actor, changes }: Named & { changes: Partial<Profile> },
): Promise<(keyof Profile)[]> {
  return deps.db.transaction((tx) => updateProfileIn(tx, deps, { userId, actor, changes }));
}

async function updateProfileIn(
  tx: Transaction,
  deps: Pick<UserDeps, 'now' | 'documentsKey'>,
  { userId, actor, changes }: Named & { changes: Partial<Profile> },
): Promise<(keyof Profile)[]> {
  const user = await lockUser(tx, deps.documentsKey, userId);
  if (!user) throw new UserRefused('user_not_found');
  if (user.status === 'merged') throw new UserRefused('user_merged');
  const profile = checkedProfile({ ...user.profile, ...changes });
  const fields = changedFields(user.profile, profile);
  if (fields.length === 0) return fields;

  const at = deps.now();
  await setProfile(tx, deps.documentsKey, { id: userId, profile, at });
  await writeAudit(tx, { userId, at, actor, action: 'user.profile_updated', details: { fields } });
  await tellOfUser(tx, { userId, at, type: 'user.updated', fields });
  return fields;
}

/** A new profile and a new number in one go: both, or neither. Returns the names of what changed. */
export async function updateUser(
  deps: UserDeps,
  { phone, changes, ...named }: Named & { phone: string | undefined; changes: Partial<Profile> },
): Promise<string[]> {
  return deps.db.transaction(async (tx) => {
    const fields: string[] = await updateProfileIn(tx, deps, { ...named, changes });
    const phoneChanged = phone !== undefined && (await changePhoneIn(tx, deps, { ...named, phone }));
    return phoneChanged ? [...fields, 'phone'] : fields;
  });
}

/** Shuts the account and ends its sessions. False when it was shut before. */
export async function deactivateUser(deps: Pick<UserDeps, 'db' | 'now'>, named: Named): Promise<boolean> {
  const { userId, actor } = named;
  return deps.db.transaction(async (tx) => {
    const account = await lockLivingAccount(tx, userId);
    if (account.status === 'inactive') return false;
    const at = deps.now();
    await setActive(tx, { id: userId, active: false, at });
    const sessionsEnded = await endSessions(tx, { userId, reason: 'deactivated', at });
    await writeAudit(tx, { userId, at, actor, action: 'user.deactivated', details: { sessionsEnded } });
    await tellOfUser(tx, { userId, at, type: 'user.deactivated' });
    return true;
  });
}

/** False when it was open anyway. */
export async function reactivateUser(deps: Pick<UserDeps, 'db' | 'now'>, named: Named): Promise<boolean> {
  const { userId, actor } = named;
  return deps.db.transaction(async (tx) => {
    const account = await lockLivingAccount(tx, userId);
    if (account.status === 'active') return false;
    const at = deps.now();
    await setActive(tx, { id: userId, active: true, at });
    await writeAudit(tx, { userId, at, actor, action: 'user.reactivated' });
    await tellOfUser(tx, { userId, at, type: 'user.reactivated' });
    return true;
  });
}

/** All sessions end: who held the old number must prove the new one. False when it is the number already. */
export async function changePhone(
  deps: Pick<UserDeps, 'db' | 'now'>,
  change: Named & { phone: string },
): Promise<boolean> {
  return deps.db.transaction((tx) => changePhoneIn(tx, deps, change));
}

async function changePhoneIn(
  tx: Transaction,
  deps: Pick<UserDeps, 'now'>,
  { userId, actor, phone }: Named & { phone: string },
): Promise<boolean> {
  if (!isPhone(phone)) throw new UserRefused('phone_invalid');
  const account = await lockLivingAccount(tx, userId);
  if (account.phone === phone) return false;
  if (!(await claimPhone(tx, phone, userId))) throw new UserRefused('phone_taken');
  await freePhone(tx, account.phone);
  const at = deps.now();
  await setPhone(tx, { id: userId, phone, at });
  const sessionsEnded = await endSessions(tx, { userId, reason: 'phone_changed', at });
  const details = { fields: ['phone'], sessionsEnded };
  await writeAudit(tx, { userId, at, actor, action: 'user.phone_changed', details });
  await tellOfUser(tx, { userId, at, type: 'user.updated', fields: ['phone'] });
  return true;
}

/** Ends one session of a person, or all of them, and has their clients told. Returns how many were open. */
export async function logOutUser(
  deps: Pick<UserDeps, 'db' | 'now'>,
  { userId, actor, sid }: Named & { sid: string | undefined },
): Promise<number> {
  return deps.db.transaction(async (tx) => {
    const at = deps.now();
    const one = sid === undefined ? {} : { sid };
    const sessionsEnded = await endSessions(tx, { userId, ...one, reason: 'operator', at });
    if (sid !== undefined && sessionsEnded === 0) throw new UserRefused('session_not_open');
    const details = { ...one, sessionsEnded };
    if (sessionsEnded > 0) await writeAudit(tx, { userId, at, actor, action: 'user.logged_out', details });
    return sessionsEnded;
  });
}

/** A person by identifier or number. Nothing is changed, but who looks at document numbers leaves a trace. */
export async function showUser(
  deps: UserDeps,
  { documents, actor, ...named }: { id?: UserId; phone?: string; documents: boolean; actor: string },
): Promise<{ user: User; oldUserIds: UserId[] }> {
  return deps.db.transaction(async (tx) => {
    const id = named.id ?? (await findUserIdByPhone(tx, named.phone ?? ''));
    const user = id && (await findUser(tx, deps.documentsKey, id));
    if (!user) throw new UserRefused(named.phone === undefined ? 'user_not_found' : 'phone_unknown');
    if (documents) {
      const details = { fields: ['pin', 'idCardNumber'] };
      await writeAudit(tx, {
        userId: user.id,
        at: deps.now(),
        actor,
        action: 'user.documents_shown',
        details,
      });
    }
    return { user, oldUserIds: await findOldUserIds(tx, user.id) };
  });
}

export type Merge = {
  survivorId: UserId;
  absorbedId: UserId;
  /**
   * The absorbed account's number: `free` for anybody to register, while the survivor keeps its own; or the
   * survivor's from now on (`take`), whose own becomes free.
   */
  phone: 'free' | 'take';
  actor: string;
};

export type MergeDeps = Pick<UserDeps, 'db' | 'now'> & {
  /** Whatever else belongs to the absorbed account follows here, in the same transaction. */
  onMerged: (tx: Transaction, merged: { survivorId: UserId; absorbedId: UserId }) => Promise<void>;
};

/**
 * Folds one account into another, for ever. Everything happens in one transaction, or nothing does. Asked for again,
 * it does nothing and names the account that is alive at the end of the chain.
 */
export async function mergeUsers(
  deps: MergeDeps,
  { survivorId, absorbedId, phone, actor }: Merge,
): Promise<{ survivorId: UserId; merged: boolean }> {
  return deps.db.transaction(async (tx) => {
    const ids = { survivorId, absorbedId };
    await lockMerges(tx);
    const decision = decideMerge(ids, await lockAccountsToMerge(tx, ids));
    if (!decision.ok) throw new UserRefused(decision.refusal);
    if (decision.step === 'nothing_left') return { survivorId: decision.survivorId, merged: false };

    const at = deps.now();
    const mergedIds = [...(await findOldUserIds(tx, absorbedId)), absorbedId];
    await setMergedInto(tx, { ...ids, at });
    await moveOldUserIds(tx, { ...ids, at });
    let sessionsEnded = await endSessions(tx, { userId: absorbedId, reason: 'merged', at });
    if (phone === 'free') {
      await freePhone(tx, decision.absorbedPhone);
    } else {
      await handOverPhone(tx, decision.absorbedPhone, survivorId);
      await freePhone(tx, decision.survivorPhone);
      await setPhone(tx, { id: survivorId, phone: decision.absorbedPhone, at });
      sessionsEnded += await endSessions(tx, { userId: survivorId, reason: 'phone_changed', at });
    }
    await deps.onMerged(tx, ids);
    const details = { absorbedId, phone, sessionsEnded };
    await writeAudit(tx, { userId: survivorId, at, actor, action: 'user.merged', details });
    await tellOfUser(tx, { userId: survivorId, at, type: 'user.merged', mergedIds });
    if (phone === 'take')
      await tellOfUser(tx, { userId: survivorId, at, type: 'user.updated', fields: ['phone'] });
    return { survivorId, merged: true };
  });
}

async function lockLivingAccount(tx: Transaction, id: UserId) {
  const account = await lockAccount(tx, id);
  if (!account) throw new UserRefused('user_not_found');
  if (account.status === 'merged') throw new UserRefused('user_merged');
  return account;
}

function checkedProfile(profile: Profile): Profile {
  const faults = profileFaults(profile);
  if (faults.length > 0) throw new UserRefused('profile_invalid', faults);
  return profile;
}
