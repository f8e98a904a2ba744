import type { WebhookDeps } from './deps.ts';
import { type Owner, ownerOf } from './domain/owner.ts';
import { hasFailedTooLong, nextAttemptAt, wishOf } from './domain/retry.ts';
import { disableUnreachable } from './endpoints.ts';
import { type Answer, send } from './send.ts';
import type { Delivery } from './store/deliveries.ts';
import {
  type Claim,
  claimDue,
  findRestart,
  lockClaims,
  makeNextDue,
  restartSome,
  settle,
} from './store/queue.ts';

/** Longer than one delivery can take with everything around it. After a kill, its event waits so long. */
const leaseMs = 30_000;

/**
 * How many may be under way at once, on all nodes together. One that has been failing gets fewer, because most of what
 * it takes are time limits.
 */
const limits = { perEndpoint: 8, perFailingEndpoint: 2, perOwner: 16 };

/** How many objects of an endpoint that was enabled again are taken up in one step, well within any time limit. */
const restartBatch = 1_000;

/** Takes what is due, for nobody else to take. */
export async function takeDue(deps: WebhookDeps, limit: number): Promise<Claim[]> {
  await takeUpRestarted(deps);
  return deps.db.transaction(async (tx) => {
    if (!(await lockClaims(tx))) return [];
    const now = deps.now();
    const leaseUntil = new Date(now.getTime() + leaseMs);
    return claimDue(tx, { now, leaseUntil, limit, ...limits });
  });
}

/** A fault here is one merchant's; the deliveries of all the others go on. */
async function takeUpRestarted(deps: WebhookDeps): Promise<void> {
  const restart = await findRestart(deps.db);
  if (!restart) return;
  try {
    await deps.db.transaction((tx) => restartSome(tx, restart, deps.now(), restartBatch));
  } catch (error) {
    deps.log.warn({ err: error, ...restart }, 'what waits for a webhook endpoint was not taken up');
  }
}

/** Delivers one event to one endpoint, once, and writes down what came of it. */
export async function deliver(deps: WebhookDeps, claim: Claim): Promise<void> {
  const owner = ownerOf(claim.owner);
  const begunAt = deps.now();
  const answer = await answerTo(deps, owner, claim);
  const at = deps.now();
  const wasSent = answer !== eventIsGone && answer !== faultOfOurs;
  const wishMs = answer.status === null ? 0 : wishOf({ ...answer, status: answer.status }, at);
  const next =
    answer.delivered || answer === eventIsGone
      ? undefined
      : nextAttemptAt({
          attempt: claim.attempts,
          at,
          queuedAt: claim.queuedAt,
          chance: deps.chance(),
          wishMs,
        });
  const delivery: Delivery = {
    deliveryId: deps.newId(),
    eventId: claim.eventId,
    type: claim.type,
    attempt: claim.attempts,
    at: begunAt,
    result: answer.delivered ? 'delivered' : next ? 'failed' : 'given_up',
    responseStatus: answer.status,
    responseBody: answer.body,
    durationMs: answer.durationMs,
    detail: answer.detail,
    nextAttemptAt: next ?? null,
  };
  const before = await deps.db.transaction(async (tx) => {
    const settled = await settle(tx, claim, delivery, wasSent);
    if (!next) await makeNextDue(tx, claim, at);
    return settled;
  });
  deps.metrics.deliveries.inc({ result: delivery.result });
  if (answer.delivered) return;

  const { endpointId, eventId, attempts: attempt } = claim;
  deps.log.info(
    { owner: claim.owner, endpointId, eventId, attempt, status: answer.status, result: delivery.result },
    'webhook not delivered',
  );
  const isGone = answer.status === 410;
  if (before && wasSent && (isGone || hasFailedTooLong(before.failingSince, at))) {
    const reason = isGone ? 'gone' : 'failing';
    const isDisabled = await disableUnreachable(deps, owner, endpointId, { reason, url: claim.url, at });
    if (!isDisabled) return;
    deps.metrics.disabled.inc({ reason });
    deps.log.warn({ owner: claim.owner, endpointId, reason }, 'webhook endpoint disabled');
  }
}

async function answerTo(deps: WebhookDeps, owner: Owner, claim: Claim): Promise<Answer> {
  try {
    const body = await deps.sources[owner.kind].payload(deps.db, owner.id, claim.eventId);
    return body === undefined ? eventIsGone : await send(deps, { ...claim, secrets: claim, body });
  } catch (error) {
    // Left to rise, it would use up the attempts in minutes, one each time a lease ends, with nothing in the log of
    // the owner. A wrong KEYS_SECRET is such a fault.
    const { owner: ownerName, endpointId, eventId } = claim;
    deps.log.error({ err: error, owner: ownerName, endpointId, eventId }, 'webhook could not be sent');
    return faultOfOurs;
  }
}

const faultOfOurs: Answer = {
  delivered: false,
  status: null,
  body: null,
  retryAfter: undefined,
  durationMs: 0,
  detail: 'It was not sent, because of a fault on our side.',
};

const eventIsGone: Answer = {
  delivered: false,
  status: null,
  body: null,
  retryAfter: undefined,
  durationMs: 0,
  detail: 'The event is no longer kept.',
};
