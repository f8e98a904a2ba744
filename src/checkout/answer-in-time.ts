import type { Logger } from '../platform/log.ts';

const answerAfterMs = 4_500;

/**
 * The limits of the acquirer and of the database may add up to more than we promise a caller. Then they get no result;
 * what has begun goes on without them.
 */
export function answerInTime<Result>(log: Logger, work: Promise<Result>): Promise<Result | undefined> {
  return new Promise((resolve, reject) => {
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      resolve(undefined);
    }, answerAfterMs);
    work
      .then(resolve, (err) => {
        if (isLate) log.warn({ err }, 'what went on after its caller was answered has failed');
        reject(err);
      })
      .finally(() => clearTimeout(timer));
  });
}
