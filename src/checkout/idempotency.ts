import { hash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Queryable } from '../platform/db.ts';
import { problemOf, Refusal } from '../platform/problem.ts';
import { answerInTime } from './answer-in-time.ts';
import type { CheckoutDeps } from './deps.ts';
import { refuse } from './errors.ts';
import {
  answersKeptMs,
  type Call,
  findAnswer,
  findKeyOwner,
  insertAnswer,
  insertRefusal,
  type KeyOwner,
  keyInUse,
} from './store/idempotency.ts';

/** `replayed` when it was given before. */
export type Answer = { status: number; body: string; replayed?: true };

/** What a key leads to when it was used before. */
export type Former = { kind: 'answer'; answer: Answer } | { kind: 'object'; owner: KeyOwner };

/** The key of a call, checked. Node joins a header that comes twice with a comma and a space, which is not a key. */
export function idempotencyKeyOf(request: FastifyRequest): string {
  const given = request.headers['x-idempotency-key'];
  if (given === undefined) throw refuse('idempotency_key_missing');
  if (typeof given !== 'string' || !/^[\x21-\x7e]{1,255}$/.test(given))
    throw refuse('idempotency_key_invalid');
  return given;
}

/** Names a call and what it asks for. Equal requests have equal fingerprints, however their JSON is written. */
export function callOf(request: FastifyRequest, merchantId: string, call: Call['call']): Call {
  const asked = JSON.stringify([call, request.params, sorted(request.body ?? {})]);
  return {
    merchantId,
    key: idempotencyKeyOf(request),
    call,
    fingerprint: hash('sha256', asked, 'buffer'),
  };
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).sort(([left], [right]) => (left < right ? -1 : 1));
  return entries.map(([name, inside]) => [name, sorted(inside)]);
}

/** What happened under this key before; a key that was used for something else is refused. */
async function findFormer(deps: CheckoutDeps, call: Call): Promise<Former | undefined> {
  const answer = await findAnswer(deps.db, call, deps.now());
  if (answer) {
    refuseOther(call, answer);
    return { kind: 'answer', answer: { status: answer.status, body: answer.body, replayed: true } };
  }
  const owner = await findKeyOwner(deps.db, call);
  if (owner) refuseOther(call, owner);
  return owner && { kind: 'object', owner };
}

function refuseOther(call: Call, former: { call: string; fingerprint: Buffer }): void {
  if (former.call !== call.call || !former.fingerprint.equals(call.fingerprint))
    throw refuse('idempotency_key_reused');
}

const waitMs = 2_000;

/** Waits a little for whoever is at work under the same key; then the caller has to come back. */
export async function awaitFormer(
  deps: CheckoutDeps,
  call: Call,
  /** What there is to say of the object, once it is settled by whomever. */
  settled: (owner: KeyOwner) => Promise<Answer | undefined>,
): Promise<Answer> {
  for (const end = performance.now() + waitMs; performance.now() < end; await delay(50)) {
    const former = await findFormer(deps, call);
    const answer = former?.kind === 'object' ? await settled(former.owner) : former?.answer;
    if (answer) return answer;
  }
  throw keyInUse();
}

/** The first answer that a key gets is the one that it gets from then on, for as long as answers are kept. */
export async function keepAnswer(
  deps: CheckoutDeps,
  db: Queryable,
  call: Call,
  answer: Answer,
  keySince: Date,
): Promise<Answer> {
  const isKept = keySince.getTime() > deps.now().getTime() - answersKeptMs;
  if (isKept && (await insertAnswer(db, call, answer, keySince))) return answer;
  const { status, body } = (await findAnswer(db, call, deps.now())) ?? answer;
  return { status, body, replayed: true };
}

/** A refusal by a rule of the domain is the answer to this key for as long as answers are kept. */
function isRemembered(refusal: Refusal): boolean {
  return (refusal.status === 409 || refusal.status === 422) && !refusal.code.startsWith('idempotency_key');
}

function problemAnswer(deps: CheckoutDeps, request: FastifyRequest, refusal: Refusal): Answer {
  const problem = problemOf(refusal, { baseUrl: deps.baseUrl, requestId: request.id });
  return { status: refusal.status, body: JSON.stringify(problem) };
}

export function send(reply: FastifyReply, answer: Answer): FastifyReply {
  if (answer.replayed) reply.header('idempotency-replayed', 'true');
  return reply
    .code(answer.status)
    .type(`application/${answer.status < 400 ? 'json' : 'problem+json'}; charset=utf-8`)
    .serializer(String)
    .send(answer.body);
}

/**
 * Runs a call that may be repeated. A rule that refuses is remembered under the key; whatever else goes wrong is
 * not, so that the same request takes the work up again.
 */
export async function answerOnce(
  deps: CheckoutDeps,
  request: FastifyRequest,
  reply: FastifyReply,
  call: Call,
  /** `begins` keeps what is under way, for a caller who is told that its outcome is not known yet. */
  work: (former: KeyOwner | undefined, begins: (what: string) => void) => Promise<Answer>,
): Promise<FastifyReply> {
  let underWay: string | undefined;
  const begins = (what: string) => {
    underWay = what;
  };
  const answer = await answerInTime(
    deps.log,
    reply,
    answerTo(deps, request, call, (former) => work(former, begins)),
  );
  if (!answer) throw outcomeUnknown(underWay);
  return send(reply, answer);
}

/** What is under way, such as `Refund …`, goes on; its outcome is not known yet. */
export function outcomeUnknown(underWay: string | undefined): Refusal {
  const detail = underWay && `${underWay} is pending; the same request goes on with it.`;
  return refuse('outcome_unknown', detail, { headers: { 'retry-after': '1' } });
}

async function answerTo(
  deps: CheckoutDeps,
  request: FastifyRequest,
  call: Call,
  work: (former: KeyOwner | undefined) => Promise<Answer>,
): Promise<Answer> {
  const former = await findFormer(deps, call);
  if (former?.kind === 'answer') return former.answer;
  try {
    return await work(former?.owner);
  } catch (error) {
    if (!(error instanceof Refusal) || !isRemembered(error)) throw error;
    const answer = problemAnswer(deps, request, error);
    const remembered = await remember(deps, call, error, answer);
    if (remembered || former) return remembered ?? answer;
    // Meanwhile something else came of this key, and that is the answer to it.
    return answerTo(deps, request, call, work);
  }
}

async function remember(
  deps: CheckoutDeps,
  call: Call,
  refusal: Refusal,
  answer: Answer,
): Promise<Answer | undefined> {
  // It did come to a capture, which keeps the key.
  const owner = refusal.code === 'capture_declined' ? await findKeyOwner(deps.db, call) : undefined;
  if (owner) return keepAnswer(deps, deps.db, call, answer, owner.createdAt);
  const isNew = await deps.db.transaction((tx) => insertRefusal(tx, call, answer, deps.now()));
  return isNew ? answer : undefined;
}
