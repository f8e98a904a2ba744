import type { Brand } from '../../platform/brand.ts';

export type UserId = Brand<'UserId'>;

export const verificationStatuses = {
  1: 'NOT_VERIFIED',
  2: 'IN_REVIEW',
  3: 'VERIFIED',
  4: 'REJECTED',
} as const;
export type VerificationStatus = keyof typeof verificationStatuses;

/** ISO/IEC 5218. */
export const genders = { 0: 'UNKNOWN', 1: 'MALE', 2: 'FEMALE', 9: 'NOT_APPLICABLE' } as const;
export type Gender = keyof typeof genders;

export type Profile = {
  firstName: string | null;
  lastName: string | null;
  patronymic: string | null;
  /** The national identification number. */
  pin: string | null;
  idCardNumber: string | null;
  profilePicture: string | null;
  /** A day without a time zone: `1990-04-21`. */
  birthDate: string | null;
  resident: boolean | null;
  verificationStatus: VerificationStatus;
  gender: Gender;
};

export const emptyProfile: Profile = {
  firstName: null,
  lastName: null,
  patronymic: null,
  pin: null,
  idCardNumber: null,
  profilePicture: null,
  birthDate: null,
  resident: null,
  verificationStatus: 1,
  gender: 0,
};

/** Whether and as whom a person may log in. A number belongs to one account, and a merged account has none. */
export type Account =
  | { id: UserId; status: 'active' | 'inactive'; phone: string }
  | { id: UserId; status: 'merged'; mergedInto: UserId };

export type User = Account & { profile: Profile; createdAt: Date; updatedAt: Date };

/** Every reason an operator can be refused for, with a sentence for them. */
export const userRefusals = {
  user_not_found: 'No account has this identifier.',
  phone_unknown: 'No account has this phone number.',
  session_not_open: 'The person has no open session of this identifier.',
  user_exists: 'An account with this identifier exists already.',
  user_merged: 'The account was merged into another one; name that one instead.',
  phone_invalid: 'The phone number is not in E.164 form, such as +994500000001.',
  phone_taken: 'The phone number belongs to another account.',
  profile_invalid: 'The profile has a field with a value that it cannot hold.',
  self_merge: 'An account cannot be merged into itself.',
  merge_cycle: 'The surviving account was itself merged into the other one.',
  survivor_merged: 'The surviving account was itself merged; name the account it was merged into.',
  merged_elsewhere: 'The account was already merged into another one.',
} as const;
export type UserRefusalCode = keyof typeof userRefusals;

export type MergeDecision =
  | { ok: true; step: 'merge'; absorbedPhone: string; survivorPhone: string }
  | { ok: true; step: 'nothing_left'; survivorId: UserId }
  | { ok: false; refusal: UserRefusalCode };

/**
 * What merging one account into another comes to. `mergedInto` always names the account that is alive at the end
 * of a chain, so that a cycle shows at the first look.
 */
export function decideMerge(
  ids: { survivorId: UserId; absorbedId: UserId },
  accounts: readonly Account[],
): MergeDecision {
  if (ids.survivorId === ids.absorbedId) return { ok: false, refusal: 'self_merge' };
  const survivor = accounts.find((account) => account.id === ids.survivorId);
  const absorbed = accounts.find((account) => account.id === ids.absorbedId);
  if (!survivor || !absorbed) return { ok: false, refusal: 'user_not_found' };

  const survivorId = survivor.status === 'merged' ? survivor.mergedInto : survivor.id;
  if (absorbed.status === 'merged') {
    // The same command again, perhaps after the survivor itself was merged: they are one person already.
    if (absorbed.mergedInto === survivorId) return { ok: true, step: 'nothing_left', survivorId };
    return { ok: false, refusal: 'merged_elsewhere' };
  }
  if (survivorId === absorbed.id) return { ok: false, refusal: 'merge_cycle' };
  if (survivor.status === 'merged') return { ok: false, refusal: 'survivor_merged' };
  return { ok: true, step: 'merge', absorbedPhone: absorbed.phone, survivorPhone: survivor.phone };
}

export function isPhone(text: string): boolean {
  return /^\+[1-9][0-9]{6,14}$/.test(text);
}

/** The fields of a change that really differ. Only their names may be kept in a log. */
export function changedFields(before: Profile, after: Profile): (keyof Profile)[] {
  return (Object.keys(emptyProfile) as (keyof Profile)[]).filter((field) => before[field] !== after[field]);
}

/** The fields that hold what they must not. */
export function profileFaults(profile: Profile): (keyof Profile)[] {
  const isText = (longest: number) => (text: string) => text.trim() !== '' && text.length <= longest;
  const checks: { [Field in keyof Profile]: (value: NonNullable<Profile[Field]>) => boolean } = {
    firstName: isText(100),
    lastName: isText(100),
    patronymic: isText(100),
    pin: isText(32),
    idCardNumber: isText(32),
    profilePicture: isPictureUrl,
    birthDate: isDay,
    resident: (value) => typeof value === 'boolean',
    verificationStatus: (value) => value in verificationStatuses,
    gender: (value) => value in genders,
  };
  const isFaulty = <Field extends keyof Profile>(field: Field) => {
    const value = profile[field];
    if (value === null) return emptyProfile[field] !== null;
    return !checks[field](value as NonNullable<Profile[Field]>);
  };
  return (Object.keys(checks) as (keyof Profile)[]).filter(isFaulty);
}

/** Partners put it into their pages, where `javascript:` would be a way in. */
function isPictureUrl(text: string): boolean {
  return text.length <= 2048 && URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
}

function isDay(text: string): boolean {
  const [, year, month, day] = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text) ?? [];
  if (!year || !month || !day) return false;
  const date = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day)));
  return date.toISOString().startsWith(text);
}
