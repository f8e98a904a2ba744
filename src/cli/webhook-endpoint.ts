import { type Command, InvalidArgumentError } from 'commander';
import { Registry } from 'prom-client';
import { version } from '../package.ts';
import { createLogger } from '../platform/log.ts';
import { OperatorRefusal } from '../platform/operator-refusal.ts';
import { Refusal } from '../platform/problem.ts';
import { webhookOwners } from '../webhook-owners.ts';
import type { WebhookDeps } from '../webhooks/deps.ts';
import type { Owner } from '../webhooks/domain/owner.ts';
import { openWebhooks } from '../webhooks/webhooks.ts';
import { uuid } from './arguments.ts';
import { type Answer, onDatabase } from './command.ts';
import type { CommandDeps } from './deps.ts';

/** Nothing is wrong with what was asked for; it cannot be done as things stand. */
const asThingsStand = ['webhook_endpoints_exhausted', 'replay_too_large'];

type Work<Options extends object, Args extends unknown[]> = (
  deps: WebhookDeps,
  actor: string,
  options: Options,
  ...args: Args
) => Promise<Answer>;

/** What the area refuses is told as the command line tells things. */
export function onWebhooks<Options extends object, Args extends unknown[]>(work: Work<Options, Args>) {
  return onDatabase(async (deps: CommandDeps, options: Options, ...args: Args) => {
    const { deps: webhooks } = openWebhooks({
      config: deps.config.webhooks,
      version,
      db: deps.db,
      log: createLogger({ level: 'silent' }),
      registry: new Registry(),
      now: deps.now,
      ...webhookOwners(deps.db),
    });
    try {
      return await work(webhooks, deps.actor, options, ...args);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      const faults = error.errors?.map((fault) => fault.detail).join(' ');
      const isGiven = (error.status === 400 || error.status === 422) && !asThingsStand.includes(error.code);
      throw new OperatorRefusal(isGiven ? 'given' : 'found', faults ?? error.detail ?? error.title);
    }
  });
}

export const exampleEndpointId = '0199d3a2-1f00-7a11-8c3d-2b6e4f8a1c01';

export function onEndpoint(command: Command): Command {
  return command
    .argument('<owner>', 'merchant:ID or partner:CLIENT', owner)
    .argument('<endpoint>', 'its id', uuid);
}

export function owner(text: string): Owner {
  const [, kind, id] = /^(merchant|partner):([A-Za-z0-9._-]{1,64})$/.exec(text) ?? [];
  if (!kind || !id) throw new InvalidArgumentError('It takes merchant:ID or partner:CLIENT.');
  return { kind: kind as Owner['kind'], id };
}
