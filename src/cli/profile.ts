import {
  emptyProfile,
  type Gender,
  genders,
  type Profile,
  type VerificationStatus,
  verificationStatuses,
} from '../identity/domain/user.ts';
import { OperatorRefusal } from '../platform/operator-refusal.ts';
import { readInput } from './read-input.ts';
import type { Cell } from './text.ts';

export type ProfileOptions = {
  firstName?: string;
  lastName?: string;
  patronymic?: string;
  birthDate?: string;
  resident?: 'yes' | 'no';
  gender?: string;
  verification?: string;
  picture?: string;
  clear?: string[];
  profile?: string;
};

/** How each field is given; document numbers only in a file, since everybody on a machine can read its command lines. */
export const optionOf: Record<keyof Profile, string> = {
  firstName: '--first-name',
  lastName: '--last-name',
  patronymic: '--patronymic',
  birthDate: '--birth-date',
  resident: '--resident',
  gender: '--gender',
  verificationStatus: '--verification',
  profilePicture: '--picture',
  pin: '--profile',
  idCardNumber: '--profile',
};

export const genderNames = Object.values(genders).map((name) => name.toLowerCase());
export const verificationNames = Object.values(verificationStatuses).map((name) => name.toLowerCase());

/** What the options say of a profile; the file comes first, and single options win over it. */
export function profileChanges(options: ProfileOptions): Partial<Profile> {
  const given: Partial<Record<keyof Profile, unknown>> = {
    ...(options.profile === undefined ? {} : profileFile(options.profile)),
    ...(options.firstName === undefined ? {} : { firstName: options.firstName }),
    ...(options.lastName === undefined ? {} : { lastName: options.lastName }),
    ...(options.patronymic === undefined ? {} : { patronymic: options.patronymic }),
    ...(options.birthDate === undefined ? {} : { birthDate: options.birthDate }),
    ...(options.resident === undefined ? {} : { resident: options.resident === 'yes' }),
    ...(options.picture === undefined ? {} : { profilePicture: options.picture }),
    ...(options.gender === undefined ? {} : { gender: options.gender }),
    ...(options.verification === undefined ? {} : { verificationStatus: options.verification }),
  };
  for (const field of options.clear ?? []) given[clearable(field)] = null;
  return checkedTypes(given);
}

function profileFile(path: string): Record<string, unknown> {
  const text = readInput(path, '--profile');
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new OperatorRefusal(
      'given',
      `--profile: ${path} is not JSON; give an object such as {"firstName": "Aysel"}.`,
    );
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new OperatorRefusal('given', `--profile: ${path} is not an object such as {"firstName": "Aysel"}.`);
  }
  const unknown = Object.keys(value).find((name) => !Object.hasOwn(emptyProfile, name));
  if (unknown !== undefined) {
    const fields = Object.keys(emptyProfile).join(', ');
    throw new OperatorRefusal('given', `--profile: ${unknown} is not one of ${fields}.`);
  }
  return value as Record<string, unknown>;
}

function clearable(field: string): keyof Profile {
  const fields = (Object.keys(emptyProfile) as (keyof Profile)[]).filter(
    (name) => emptyProfile[name] === null,
  );
  const found = fields.find((name) => name === field);
  if (found) return found;
  throw new OperatorRefusal('given', `--clear: ${field} is not one of ${fields.join(', ')}.`);
}

/** Names become the numbers that stand for them; a file may hold anything, so the types are looked at. */
function checkedTypes(given: Partial<Record<keyof Profile, unknown>>): Partial<Profile> {
  const profile: Record<string, unknown> = { ...given };
  if ('gender' in given) profile.gender = numberOf(genders, given.gender, '--gender');
  if ('verificationStatus' in given)
    profile.verificationStatus = numberOf(verificationStatuses, given.verificationStatus, '--verification');
  for (const [name, value] of Object.entries(profile)) {
    const wanted = kindOf[name] ?? 'string';
    if (value !== null && typeof value !== wanted) {
      throw new OperatorRefusal('given', `--profile: ${name} takes a ${wanted}.`);
    }
  }
  return profile as Partial<Profile>;
}

const kindOf: Record<string, string> = {
  resident: 'boolean',
  gender: 'number',
  verificationStatus: 'number',
};

function numberOf(names: Record<number, string>, given: unknown, option: string): number {
  const found = Object.entries(names).find(([, name]) => name === String(given).toUpperCase());
  if (found) return Number(found[0]);
  const choices = Object.values(names).join(', ').toLowerCase();
  throw new OperatorRefusal('given', `${option}: ${String(given)} is not one of ${choices}.`);
}

/** Document numbers are shown only to who asks for them. */
export function profileJson(profile: Profile, options: { documents: boolean }) {
  const document = (value: string | null) => (options.documents ? value : masked(value));
  return {
    ...profile,
    pin: document(profile.pin),
    idCardNumber: document(profile.idCardNumber),
    verificationStatus: verificationStatuses[profile.verificationStatus as VerificationStatus],
    gender: genders[profile.gender as Gender],
  };
}

export function profileText(profile: ReturnType<typeof profileJson>): Record<string, Cell> {
  return {
    'first name': profile.firstName,
    'last name': profile.lastName,
    patronymic: profile.patronymic,
    'birth date': profile.birthDate,
    resident: profile.resident,
    gender: profile.gender,
    verification: profile.verificationStatus,
    pin: profile.pin,
    'id card': profile.idCardNumber,
    picture: profile.profilePicture,
  };
}

function masked(value: string | null): string | null {
  return value && `${'*'.repeat(Math.max(3, value.length - 2))}${value.slice(-2)}`;
}
