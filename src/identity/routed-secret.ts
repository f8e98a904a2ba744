import { hash, randomBytes } from 'node:crypto';

/**
 * A secret that carries the ids it is looked up by in front of 256 random bits: the statement that uses it touches
 * one shard, and the database keeps only its hash.
 */
export type RoutedSecret = { text: string; hash: Buffer };

const idBytes = 16;
const randomLength = 32;

export function makeRoutedSecret(ids: string[]): RoutedSecret {
  const text = Buffer.concat([...ids.map(bytesOf), randomBytes(randomLength)]).toString('base64url');
  return { text, hash: hashOf(text) };
}

/** The ids inside and the hash to compare with, or undefined for what cannot be one of ours. */
export function readRoutedSecret<const Names extends string[]>(
  text: string,
  ...names: Names
): ({ hash: Buffer } & Record<Names[number], string>) | undefined {
  if (!/^[\w-]{1,128}$/.test(text)) return undefined;
  const bytes = Buffer.from(text, 'base64url');
  // One spelling only: base64url has spare bits at its end.
  if (bytes.length !== names.length * idBytes + randomLength || bytes.toString('base64url') !== text)
    return undefined;
  const ids = names.map((name, at) => [name, uuidOf(bytes.subarray(at * idBytes, (at + 1) * idBytes))]);
  return { hash: hashOf(text), ...(Object.fromEntries(ids) as Record<Names[number], string>) };
}

export function bytesOf(uuid: string): Buffer {
  return Buffer.from(uuid.replaceAll('-', ''), 'hex');
}

export function uuidOf(bytes: Buffer): string {
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

function hashOf(text: string): Buffer {
  return hash('sha256', text, 'buffer');
}
