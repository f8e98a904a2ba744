import { readFileSync } from 'node:fs';
import { OperatorRefusal } from '../platform/operator-refusal.ts';

/** A file, or standard input for `-`. What must not be seen in a list of processes comes this way. */
export function readInput(path: string, option: string): string {
  try {
    return readFileSync(path === '-' ? 0 : path, 'utf8');
  } catch (error) {
    const reason = (error as NodeJS.ErrnoException).code ?? 'unknown error';
    throw new OperatorRefusal(
      'given',
      `${option}: ${path} cannot be read (${reason}); name a file, or - for standard input.`,
    );
  }
}

/** Editors and `echo` leave a line break at the end, which is no part of a secret. */
export function readSecret(path: string, option: string): string {
  const secret = readInput(path, option).replace(/\r?\n$/, '');
  if (/^[\x21-\x7e]{32,512}$/.test(secret)) return secret;
  throw new OperatorRefusal(
    'given',
    `${option}: A secret takes 32 to 512 visible ASCII characters; leave the option out and one is made.`,
  );
}
