import type { Algorithm } from './algorithm.ts';

/** Keys sign for thirty days. */
const keyLifeMs = 30 * 24 * 3600_000;
/**
 * A new key is published this long before it signs. Partners may keep our key set for five minutes and a node
 * rereads it every minute, so by then everybody has it.
 */
export const publishAheadMs = 15 * 60_000;
/** The longest life a token can be given, and a minute for clocks that disagree. */
export const lastTokenMs = 3600_000 + 60_000;
/** An ID token that has long expired is still good as a hint of who is asking, for as long as we can check it. */
const keptForHintsMs = 90 * 24 * 3600_000;

/** The last instant that there is. */
const endless = new Date(8.64e15);

type Dated = { kid: string; alg: Algorithm; activatesAt: Date };

/**
 * The newest key whose time has come. A clock that was set back may stand before the first of all: then that one signs,
 * which everybody knows, and no other is made in its place.
 */
export function currentKey<Key extends Dated>(keys: Key[], alg: Algorithm, now: Date): Key | undefined {
  const newestFirst = keys
    .filter((key) => key.alg === alg)
    .sort((left, right) => right.activatesAt.getTime() - left.activatesAt.getTime());
  return newestFirst.find((key) => key.activatesAt <= now) ?? newestFirst.at(-1);
}

/** What partners have to know: the next keys, the current ones, and the former ones while their tokens live. */
export function publishedKeys<Key extends Dated>(keys: Key[], now: Date): Key[] {
  return keys.filter((key) => now < publishedUntil(keys, key));
}

/** Until when tokens of this key may live. */
export function publishedUntil(keys: Dated[], key: Dated): Date {
  const end = retiredAt(keys, key);
  return end ? new Date(end.getTime() + lastTokenMs) : endless;
}

/** Keys that not even an old hint can need any more. */
export function forgottenKeys<Key extends Dated>(keys: Key[], now: Date): Key[] {
  return keys.filter((key) => {
    const end = retiredAt(keys, key);
    return end !== undefined && end.getTime() + keptForHintsMs < now.getTime();
  });
}

/** When the successor of the current key has to start, or undefined when it is not time to make one. */
export function successorDue(keys: Dated[], alg: Algorithm, now: Date): Date | undefined {
  const current = currentKey(keys, alg, now);
  if (!current) return now;
  if (keys.some((key) => key.alg === alg && key.activatesAt > now)) return undefined;
  const end = current.activatesAt.getTime() + keyLifeMs;
  if (now.getTime() < end - publishAheadMs) return undefined;
  return new Date(Math.max(end, now.getTime() + publishAheadMs));
}

/** `kept` is no longer published, and checks old hints only. */
export type KeyState = 'next' | 'current' | 'previous' | 'kept';

/** Where each key stands, and until when it signs. */
export function keyStates<Key extends Dated>(
  keys: Key[],
  now: Date,
): { key: Key; state: KeyState; signsUntil: Date | undefined }[] {
  const published = new Set(publishedKeys(keys, now));
  return keys.map((key) => {
    const end = retiredAt(keys, key);
    const state = () => {
      if (currentKey(keys, key.alg, now) === key) return 'current';
      if (key.activatesAt > now) return 'next';
      return published.has(key) ? 'previous' : 'kept';
    };
    return { key, state: state(), signsUntil: end };
  });
}

/** When the next key of this kind begins to sign, by the schedule or because it is already waiting. */
export function nextRotation(keys: Dated[], alg: Algorithm, now: Date): Date | undefined {
  const current = currentKey(keys, alg, now);
  const waiting = keys.find((key) => key.alg === alg && key.activatesAt > now && key !== current);
  return waiting?.activatesAt ?? (current && new Date(current.activatesAt.getTime() + keyLifeMs));
}

function retiredAt(keys: Dated[], key: Dated): Date | undefined {
  const later = keys
    .filter((other) => other.alg === key.alg && other.activatesAt > key.activatesAt)
    .map((other) => other.activatesAt.getTime());
  return later.length > 0 ? new Date(Math.min(...later)) : undefined;
}
