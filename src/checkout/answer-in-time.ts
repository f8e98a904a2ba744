import type { FastifyReply } from 'fastify';
import type { Logger } from '../platform/log.ts';

const answerAfterMs = 4_500;
/** Who was slow to send a request has this for the work. */
const leastMs = 500;

/**
 * The limits of the acquirer and of the database may add up to more than we promise a caller, who has waited since the
 * request arrived. Then they get no result; what has begun goes on without them.
 */
export function answerInTime<Result>(
  log: Logger,
  reply: FastifyReply,
  work: Promise<Result>,
): Promise<Result | undefined> {
  return new Promise((resolve, reject) => {
    let isLate = false;
    const onLate = () => {
      isLate = true;
      resolve(undefined);
    };
    const timer = setTimeout(onLate, Math.max(leastMs, answerAfterMs - reply.elapsedTime));
    work
      .then(resolve, (err) => {
        if (isLate) log.warn({ err }, 'what went on after its caller was answered has failed');
        reject(err);
      })
      .finally(() => clearTimeout(timer));
  });
}
