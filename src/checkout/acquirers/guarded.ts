import type { Logger } from '../../platform/log.ts';
import type { Acquirer, AuthorizeOutcome, Lost, OperationOutcome } from '../domain/acquirer.ts';

export type GuardOptions = {
  now: () => Date;
  /** Bounds one call with its repetition. */
  timeoutMs: number;
  breaker: { failures: number; openMs: number };
  log: Logger;
  /** Counts a call by its outcome; `refused_by_breaker` never left. */
  count: (call: AcquirerCall, outcome: Outcome['kind'] | 'refused_by_breaker') => void;
};

type AcquirerCall = keyof Acquirer;
type Outcome = AuthorizeOutcome | OperationOutcome;

/**
 * Which calls move money. One that is not sent has certainly failed. A question that is not sent leaves its answer
 * unknown: `failed` would say that what it asks about never happened.
 */
const movesMoney: Record<AcquirerCall, boolean> = {
  authorize: true,
  complete: false,
  capture: true,
  reverse: true,
  refund: true,
  inquireAuthorization: false,
  inquireOperation: false,
};

/**
 * Keeps an acquirer that is slow, broken or gone from taking the checkout with it. No call takes longer than the
 * timeout, none throws, and after enough failures in a row none is made for a while.
 */
export function guardAcquirer(acquirer: Acquirer, options: GuardOptions): Acquirer {
  const { count, log } = options;
  const breaker = createBreaker(options);

  async function guarded<Result extends Outcome>(
    call: AcquirerCall,
    { reference, merchantId }: { reference: string; merchantId: string },
    work: () => Promise<Result>,
  ): Promise<Result | Lost> {
    const about = { call, reference, merchantId };
    const pass = breaker.enter();
    if (!pass) {
      count(call, 'refused_by_breaker');
      log.debug(about, 'the acquirer was not called: it has failed too often');
      return { kind: movesMoney[call] ? 'failed' : 'unknown' };
    }
    const once = async (): Promise<Result | Lost> => {
      try {
        return await work();
      } catch (error) {
        log.error({ ...about, ...placeOf(error) }, 'the acquirer threw');
        return { kind: 'unknown' };
      }
    };
    const outcome = await withinDeadline(options.timeoutMs, async (isEarly) => {
      const first = await once();
      // An authorization is never sent again from here. The first may be on its way still, and not every acquirer
      // keeps its promise that a reference counts once: the customer would be charged twice. The rest is repeated
      // when it failed early, as a broken connection does; an acquirer that is slow would only get more to do.
      if (call === 'authorize' || !mayRepeat(call, first) || !isEarly()) return first;
      const second = await once();
      // What the second try did not do, the first may have done.
      return first.kind === 'unknown' && second.kind === 'failed' && movesMoney[call] ? first : second;
    });
    if (outcome === 'late') log.warn(about, 'the acquirer did not answer in time');
    const result: Result | Lost = outcome === 'late' ? { kind: 'unknown' } : outcome;

    const change = pass.leave(healthOf(call, result));
    if (change) log.warn({ call }, `the circuit breaker of the acquirer is ${change}`);
    count(call, result.kind);
    return result;
  }

  return {
    authorize: (call) => guarded('authorize', call, () => acquirer.authorize(call)),
    complete: (inquiry) => guarded('complete', inquiry, () => acquirer.complete(inquiry)),
    capture: (call) => guarded('capture', call, () => acquirer.capture(call)),
    reverse: (call) => guarded('reverse', call, () => acquirer.reverse(call)),
    refund: (call) => guarded('refund', call, () => acquirer.refund(call)),
    inquireAuthorization: (inquiry) =>
      guarded('inquireAuthorization', inquiry, () => acquirer.inquireAuthorization(inquiry)),
    inquireOperation: (inquiry) =>
      guarded('inquireOperation', inquiry, () => acquirer.inquireOperation(inquiry)),
  };
}

/** A `failed` inquiry is the answer that was asked for; a `failed` capture is one that did not get through, or was no good. */
function isCutOff(call: AcquirerCall, outcome: Outcome): boolean {
  return outcome.kind === 'failed' && movesMoney[call] && !outcome.answered;
}

function mayRepeat(call: AcquirerCall, outcome: Outcome): boolean {
  return outcome.kind === 'unknown' || isCutOff(call, outcome);
}

/** The message of a foreign error may hold the card, so only its name, its code and where it arose are logged. */
function placeOf(error: unknown): { type: string; reason?: string; frames?: string[] } {
  if (!(error instanceof Error)) return { type: typeof error };
  const { code } = error as NodeJS.ErrnoException;
  const stack = error.stack?.replace(error.message, '') ?? '';
  const frames = stack.split('\n').filter((line) => /^ {4}at \S/.test(line));
  return { type: error.name, ...(typeof code === 'string' ? { reason: code } : {}), frames };
}

async function withinDeadline<Result>(
  timeoutMs: number,
  work: (isEarly: () => boolean) => Promise<Result>,
): Promise<Result | 'late'> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<'late'>((resolve) => {
    timer = setTimeout(() => resolve('late'), timeoutMs);
  });
  const begunAt = performance.now();
  try {
    return await Promise.race([work(() => performance.now() - begunAt < timeoutMs / 2), late]);
  } finally {
    clearTimeout(timer);
  }
}

type Health = 'well' | 'ill' | 'unclear';

/** An inquiry that does not know yet says nothing about the line: many open questions must not stop new payments. */
function healthOf(call: AcquirerCall, outcome: Outcome): Health {
  if (outcome.kind === 'unknown') return movesMoney[call] ? 'ill' : 'unclear';
  return isCutOff(call, outcome) ? 'ill' : 'well';
}

type Pass = { leave(health: Health): 'open' | 'closed' | undefined };

/** Closed: calls pass. Open: none does, until one is let through to try; its outcome closes the breaker or opens it anew. */
function createBreaker({ now, breaker }: GuardOptions): { enter(): Pass | undefined } {
  let failures = 0;
  let openUntil: number | undefined;
  let isProbing = false;

  const open = () => {
    openUntil = now().getTime() + breaker.openMs;
    return 'open' as const;
  };
  const close = () => {
    failures = 0;
    openUntil = undefined;
    return 'closed' as const;
  };
  const passer: Pass = {
    leave(health) {
      if (health === 'unclear') return undefined;
      if (health === 'well') {
        if (openUntil !== undefined) return undefined;
        failures = 0;
        return undefined;
      }
      failures++;
      return openUntil === undefined && failures >= breaker.failures ? open() : undefined;
    },
  };
  const probe: Pass = {
    leave(health) {
      isProbing = false;
      // It has tried nothing out: the next call does.
      if (health === 'unclear') return undefined;
      return health === 'well' ? close() : open();
    },
  };
  return {
    enter() {
      if (openUntil === undefined) return passer;
      if (isProbing || now().getTime() < openUntil) return undefined;
      isProbing = true;
      return probe;
    },
  };
}
