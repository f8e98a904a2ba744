/**
 * Loaded into each server under torture before anything else. It lets the campaign move the clock that the server
 * reads, and hold its event loop, by writing to a file; PostgreSQL and everybody else keep the real time.
 */
import { readFileSync } from 'node:fs';

const RealDate = Date;
let offsetMs = 0;
let lastStall = 0;

class MovedDate extends RealDate {
  /** @param {any[]} given */
  constructor(...given) {
    if (given.length === 0) super(MovedDate.now());
    else super(.../** @type {[string]} */ (given));
  }

  /** @override */
  static now() {
    return RealDate.now() + offsetMs;
  }
}
globalThis.Date = /** @type {DateConstructor} */ (/** @type {unknown} */ (MovedDate));

setInterval(() => {
  const wish = readWish();
  offsetMs = wish.offsetMs;
  if (wish.stall === lastStall) return;
  lastStall = wish.stall;
  for (const endsAt = performance.now() + wish.stallMs; performance.now() < endsAt; );
}, 20).unref();

/** @returns {{ offsetMs: number, stall: number, stallMs: number }} */
function readWish() {
  try {
    return JSON.parse(readFileSync(process.env.TORTURE_WISH ?? '', 'utf8'));
  } catch {
    return { offsetMs, stall: lastStall, stallMs: 0 };
  }
}
