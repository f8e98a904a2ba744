import { InvalidArgumentError } from 'commander';
import { parsePhone } from '../identity/domain/phone.ts';
import type { UserId } from '../identity/domain/user.ts';
import { showUser } from '../identity/users.ts';
import type { CommandDeps } from './deps.ts';

/** How a person is named on the command line. */
export type Person = { id: UserId } | { phone: string };

export const personAbout = 'identifier, or phone number such as +994500000001';

export function person(text: string): Person {
  if (/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text)) return { id: text.toLowerCase() as UserId };
  const phone = parsePhone(text, 'AZ');
  if (phone) return { phone };
  throw new InvalidArgumentError('It takes an identifier, or a phone number such as +994500000001.');
}

export function phoneNumber(text: string): string {
  const phone = parsePhone(text, 'AZ');
  if (phone) return phone;
  throw new InvalidArgumentError('It takes a phone number such as +994500000001.');
}

export async function findPerson(deps: CommandDeps, named: Person) {
  return showUser(deps.users, { ...named, documents: false, actor: deps.actor });
}
