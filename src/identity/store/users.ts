import { type Queryable, sql, type Transaction } from '../../platform/db.ts';
import { type PurposeKey, reseal, seal, unseal } from '../../platform/seal.ts';
import {
  type Account,
  type Gender,
  genders,
  type Profile,
  type User,
  type UserId,
  type VerificationStatus,
  verificationStatuses,
} from '../domain/user.ts';

type AccountRow = { userId: UserId; phone: string | null; active: boolean; mergedInto: UserId | null };

export type UserRow = AccountRow & {
  firstName: string | null;
  lastName: string | null;
  patronymic: string | null;
  pinSealed: Buffer | null;
  idCardNumberSealed: Buffer | null;
  profilePicture: string | null;
  birthDate: string | null;
  resident: boolean | null;
  verificationStatus: number;
  gender: number;
  createdAt: Date;
  updatedAt: Date;
};

export async function findUser(db: Queryable, key: PurposeKey, id: UserId): Promise<User | undefined> {
  const row = await db.maybeOne<UserRow>(sql`select * from identity.users where user_id = ${id}`);
  return row && toUser(row, key);
}

export async function findUserIdByPhone(db: Queryable, phone: string): Promise<UserId | undefined> {
  const row = await db.maybeOne<{ userId: UserId }>(sql`
    select user_id from identity.phones where phone = ${phone}`);
  return row?.userId;
}

export async function lockUser(tx: Transaction, key: PurposeKey, id: UserId): Promise<User | undefined> {
  const row = await tx.maybeOne<UserRow>(sql`select * from identity.users where user_id = ${id} for update`);
  return row && toUser(row, key);
}

export async function lockAccount(tx: Transaction, id: UserId): Promise<Account | undefined> {
  const row = await tx.maybeOne<AccountRow>(sql`
    select user_id, phone, active, merged_into from identity.users where user_id = ${id} for update`);
  return row && toAccount(row);
}

/**
 * Whose number this is. The account is held until the transaction ends: who deactivates or merges it meanwhile waits
 * for the session that is about to be made, and then ends it. A number that moves at this very moment is not found.
 */
export async function holdAccountByPhone(tx: Transaction, phone: string): Promise<Account | undefined> {
  const row = await tx.maybeOne<AccountRow>(sql`
    select u.user_id, u.phone, u.active, u.merged_into
    from identity.phones p join identity.users u on u.user_id = p.user_id and u.phone = p.phone
    where p.phone = ${phone} for share of u`);
  return row && toAccount(row);
}

/**
 * One merge at a time. A merge locks whole families, and the family of an account can grow while it is waited for:
 * two merges could then each wait for the other. They are rare, so waiting in line costs nothing.
 */
export async function lockMerges(tx: Transaction): Promise<void> {
  await tx.run(sql`select pg_advisory_xact_lock(hashtext('identity.merge_users'))`);
}

/** The two accounts of a merge, locked in id order together with all that were merged into the one to be absorbed. */
export async function lockAccountsToMerge(
  tx: Transaction,
  ids: { survivorId: UserId; absorbedId: UserId },
): Promise<Account[]> {
  const rows = await tx.many<AccountRow>(sql`
    select user_id, phone, active, merged_into from identity.users
    where user_id in (${ids.survivorId}, ${ids.absorbedId})
      or user_id in (select old_user_id from identity.merged_users where user_id = ${ids.absorbedId})
    order by user_id for update`);
  return rows.map(toAccount);
}

/** False when there is one with this id. */
export async function insertUser(
  tx: Transaction,
  key: PurposeKey,
  user: { id: UserId; phone: string; profile: Profile; createdAt: Date },
): Promise<boolean> {
  const { profile } = user;
  const inserted = await tx.run(sql`
    insert into identity.users (user_id, phone, first_name, last_name, patronymic, pin_sealed, id_card_number_sealed,
      profile_picture, birth_date, resident, verification_status, gender, created_at, updated_at)
    values (${user.id}, ${user.phone}, ${profile.firstName}, ${profile.lastName}, ${profile.patronymic},
      ${sealDocument(key, user.id, 'pin', profile.pin)},
      ${sealDocument(key, user.id, 'idCardNumber', profile.idCardNumber)},
      ${profile.profilePicture}, ${profile.birthDate}, ${profile.resident}, ${profile.verificationStatus},
      ${profile.gender}, ${user.createdAt}, ${user.createdAt})
    on conflict (user_id) do nothing`);
  return inserted === 1;
}

export async function setProfile(
  tx: Transaction,
  key: PurposeKey,
  { id, profile, at }: { id: UserId; profile: Profile; at: Date },
): Promise<void> {
  await tx.run(sql`
    update identity.users set first_name = ${profile.firstName}, last_name = ${profile.lastName},
      patronymic = ${profile.patronymic}, pin_sealed = ${sealDocument(key, id, 'pin', profile.pin)},
      id_card_number_sealed = ${sealDocument(key, id, 'idCardNumber', profile.idCardNumber)},
      profile_picture = ${profile.profilePicture}, birth_date = ${profile.birthDate}, resident = ${profile.resident},
      verification_status = ${profile.verificationStatus}, gender = ${profile.gender}, updated_at = ${at}
    where user_id = ${id}`);
}

export async function setActive(
  tx: Transaction,
  { id, active, at }: { id: UserId; active: boolean; at: Date },
): Promise<void> {
  await tx.run(sql`update identity.users set active = ${active}, updated_at = ${at} where user_id = ${id}`);
}

export async function setPhone(
  tx: Transaction,
  { id, phone, at }: { id: UserId; phone: string; at: Date },
): Promise<void> {
  await tx.run(sql`update identity.users set phone = ${phone}, updated_at = ${at} where user_id = ${id}`);
}

/** False when somebody has the number, also somebody whose transaction is still under way: it is waited for. */
export async function claimPhone(tx: Transaction, phone: string, userId: UserId): Promise<boolean> {
  const claimed = await tx.run(sql`
    insert into identity.phones (phone, user_id) values (${phone}, ${userId}) on conflict do nothing`);
  return claimed === 1;
}

export async function freePhone(tx: Transaction, phone: string): Promise<void> {
  await tx.run(sql`delete from identity.phones where phone = ${phone}`);
}

export async function handOverPhone(tx: Transaction, phone: string, to: UserId): Promise<void> {
  await tx.run(sql`update identity.phones set user_id = ${to} where phone = ${phone}`);
}

/** Shuts the absorbed account, and points to the survivor whatever was merged into it before. */
export async function setMergedInto(
  tx: Transaction,
  merge: { survivorId: UserId; absorbedId: UserId; at: Date },
): Promise<void> {
  await tx.run(sql`
    update identity.users set merged_into = ${merge.survivorId}, active = false, phone = null,
      updated_at = ${merge.at}
    where user_id = ${merge.absorbedId}
      or user_id in (select old_user_id from identity.merged_users where user_id = ${merge.absorbedId})`);
}

/**
 * Makes the absorbed account's identifier and its old ones the survivor's, each with the time of its own merge. The
 * rows are written anew, not updated: a distributed database cannot move a row by changing the column it is spread by.
 */
export async function moveOldUserIds(
  tx: Transaction,
  merge: { survivorId: UserId; absorbedId: UserId; at: Date },
): Promise<void> {
  await tx.run(sql`
    with moved as (
      delete from identity.merged_users where user_id = ${merge.absorbedId}
      returning old_user_id, merged_at, ordinal
    ), kept as (
      insert into identity.merged_users (user_id, old_user_id, merged_at, ordinal) overriding system value
      select ${merge.survivorId}::uuid, old_user_id, merged_at, ordinal from moved
    )
    insert into identity.merged_users (user_id, old_user_id, merged_at)
    values (${merge.survivorId}, ${merge.absorbedId}, ${merge.at})`);
}

/** Every identifier that was merged into this one, through chains of merges, oldest first. */
export async function findOldUserIds(db: Queryable, id: UserId): Promise<UserId[]> {
  const rows = await db.many<{ oldUserId: UserId }>(sql`
    select old_user_id from identity.merged_users where user_id = ${id} order by merged_at, ordinal`);
  return rows.map((row) => row.oldUserId);
}

function toAccount({ userId: id, phone, active, mergedInto }: AccountRow): Account {
  if (mergedInto) {
    if (active || phone || mergedInto === id) throw new Error(`user ${id} was merged but is not shut`);
    return { id, status: 'merged', mergedInto };
  }
  if (!phone) throw new Error(`user ${id} has no phone but was never merged`);
  return { id, status: active ? 'active' : 'inactive', phone };
}

export function toUser(row: UserRow, key: PurposeKey): User {
  const { userId: id, verificationStatus, gender, createdAt, updatedAt } = row;
  if (!isVerificationStatus(verificationStatus)) {
    throw new Error(`user ${id} has the unknown verification status ${verificationStatus}`);
  }
  if (!isGender(gender)) throw new Error(`user ${id} has the unknown gender ${gender}`);
  const profile: Profile = {
    firstName: row.firstName,
    lastName: row.lastName,
    patronymic: row.patronymic,
    pin: openDocument(key, id, 'pin', row.pinSealed),
    idCardNumber: openDocument(key, id, 'idCardNumber', row.idCardNumberSealed),
    profilePicture: row.profilePicture,
    birthDate: row.birthDate,
    resident: row.resident,
    verificationStatus,
    gender,
  };
  return { ...toAccount(row), profile, createdAt, updatedAt };
}

function isVerificationStatus(value: number): value is VerificationStatus {
  return value in verificationStatuses;
}

function isGender(value: number): value is Gender {
  return value in genders;
}

type DocumentField = 'pin' | 'idCardNumber';

/** Bound to its row and column: a number copied to another person's row in the database cannot be opened there. */
function documentContext(id: UserId, field: DocumentField): string {
  return `${id} ${field}`;
}

function sealDocument(key: PurposeKey, id: UserId, field: DocumentField, value: string | null) {
  return value === null ? null : seal(key, value, documentContext(id, field));
}

function openDocument(key: PurposeKey, id: UserId, field: DocumentField, sealed: Buffer | null) {
  if (!sealed) return null;
  const value = unseal(key, sealed, documentContext(id, field));
  if (!value) throw new Error(`${field} of user ${id} was not sealed with this key`);
  return value.toString('utf8');
}

/** From now on nobody is added or changed until the transaction ends. */
export async function lockUsers(tx: Transaction): Promise<void> {
  await tx.run(sql`lock table identity.users in exclusive mode`);
}

/** Seals the documents of so many people anew, and gives back how many had some and after whom to go on. */
export async function resealDocuments(
  tx: Transaction,
  keys: { from: PurposeKey; to: PurposeKey },
  { after, limit }: { after: UserId; limit: number },
): Promise<{ resealed: number; last: UserId | undefined }> {
  type Row = { userId: UserId; pinSealed: Buffer | null; idCardNumberSealed: Buffer | null };
  const rows = await tx.many<Row>(sql`
    select user_id, pin_sealed, id_card_number_sealed from identity.users
    where user_id > ${after} order by user_id limit ${limit}`);
  const anew = (id: UserId, field: DocumentField, sealed: Buffer | null) =>
    sealed && reseal(keys, sealed, documentContext(id, field));
  const sealed = rows.filter((row) => row.pinSealed ?? row.idCardNumberSealed);
  const ids = sealed.map((row) => row.userId);
  const pins = sealed.map((row) => anew(row.userId, 'pin', row.pinSealed));
  const cards = sealed.map((row) => anew(row.userId, 'idCardNumber', row.idCardNumberSealed));
  await tx.run(sql`
    update identity.users u set pin_sealed = d.pin, id_card_number_sealed = d.card
    from unnest(${ids}::uuid[], ${pins}::bytea[], ${cards}::bytea[]) as d (user_id, pin, card)
    where u.user_id = d.user_id`);
  return { resealed: sealed.length, last: rows.at(-1)?.userId };
}

/**
 * The account that a person has become, after whatever merges. `merged_into` always names the account at the end of the
 * chain, so one read is enough. Inside a transaction the account stays as it is until that ends: a merge waits, and then
 * finds what was posted meanwhile.
 */
export async function survivorOf(db: Queryable, id: string): Promise<string> {
  const row = await db.maybeOne<{ survivor: string }>(sql`
    select coalesce(merged_into, user_id) as survivor from identity.users where user_id = ${id} for share`);
  return row?.survivor ?? id;
}
