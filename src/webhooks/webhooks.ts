import type { Registry } from 'prom-client';
import type { WebhooksConfig } from '../config.ts';
import type { Database } from '../platform/db.ts';
import type { Job } from '../platform/jobs.ts';
import type { Logger } from '../platform/log.ts';
import type { Resolve } from '../platform/outgoing.ts';
import { deriveKey, type PurposeKey } from '../platform/seal.ts';
import { uuid7 } from '../platform/uuid7.ts';
import { cleanUpWebhooksJob } from './clean-up.ts';
import type { WebhookDeps } from './deps.ts';
import { createWebhookMetrics } from './metrics.ts';

export type Webhooks = { deps: WebhookDeps; jobs: Job[] };

export type WebhooksOptions = Pick<WebhookDeps, 'sources' | 'isKnown' | 'audit'> & {
  config: WebhooksConfig;
  version: string;
  db: Database;
  log: Logger;
  registry: Registry;
  now: () => Date;
  resolve?: Resolve | undefined;
};

/** How long a receiver may take, and how much of its answer is kept. */
const outgoingLimits = { timeoutMs: 15_000, maxResponseBytes: 1024 };

/** Puts the area together. Where events come from is handed over: it knows nothing of payments or people. */
export function openWebhooks(options: WebhooksOptions): Webhooks {
  const { config, db, log, now, registry, sources, isKnown, audit } = options;
  const deps: WebhookDeps = {
    db,
    log,
    now,
    newId: () => uuid7(now()),
    chance: Math.random,
    secretsKey: webhookSecretsKey(config.keysSecret),
    outgoing: { allowPrivate: config.local, ...outgoingLimits },
    resolve: options.resolve,
    userAgent: `Tollgate/${options.version}`,
    metrics: createWebhookMetrics({ db, now, registry }),
    sources,
    isKnown,
    audit,
  };
  return { deps, jobs: [cleanUpWebhooksJob({ db, now })] };
}

/** The key under which the secrets of endpoints lie in the database. */
export function webhookSecretsKey(keysSecret: string): PurposeKey {
  return deriveKey(keysSecret, 'webhook secrets');
}
