import { randomBytes } from 'node:crypto';
import type { Transaction } from '../platform/db.ts';
import { checkOutgoingUrl, OutgoingFailed, OutgoingRefused } from '../platform/outgoing.ts';
import { commonRefusals, refuserOf } from '../platform/problem.ts';
import { seal } from '../platform/seal.ts';
import { secretText } from '../platform/standard-webhooks.ts';
import type { WebhookDeps } from './deps.ts';
import {
  type DisabledReason,
  disabled,
  type Endpoint,
  enabled,
  mostEndpoints,
  rotationMs,
} from './domain/endpoint.ts';
import { eventFilters } from './domain/event-types.ts';
import { type Owner, ownerKey } from './domain/owner.ts';
import { hasFailedTooLong } from './domain/retry.ts';
import { refuse } from './errors.ts';
import {
  findEndpoint,
  insertEndpoint,
  listEndpoints as listStored,
  lockEndpoint,
  deleteEndpoint as removeEndpoint,
  saveEndpoint,
  saveNewSecret,
  saveRestart,
} from './store/endpoints.ts';
import { deleteWaiting } from './store/queue.ts';

const refuseRequest = refuserOf(commonRefusals);
const secretBytes = 32;

export type EndpointWish = { url: string; events?: string[]; description?: string | null };
/** The secret as text is given out here and never again. */
export type EndpointWithSecret = { endpoint: Endpoint; secret: string };

export async function createEndpoint(
  deps: WebhookDeps,
  owner: Owner,
  wish: EndpointWish,
  actor: string,
): Promise<EndpointWithSecret> {
  if (!(await deps.isKnown(owner))) throw refuse('webhook_owner_not_found');
  const events = checkedEvents(owner, wish.events ?? ['*']);
  await checkUrl(deps, owner, wish.url);
  const endpoint: Endpoint = {
    owner,
    id: deps.newId(),
    url: wish.url,
    events,
    description: wish.description ?? null,
    status: 'enabled',
    failingSince: null,
    previousSecretExpiresAt: null,
    createdAt: deps.now(),
  };
  const secret = newSecret(deps, endpoint.id);
  await deps.db.transaction(async (tx) => {
    if (!(await insertEndpoint(tx, endpoint, secret.sealed, mostEndpoints))) {
      throw refuse('webhook_endpoints_exhausted');
    }
    await note(deps, tx, endpoint, actor, 'webhook.endpoint_created');
  });
  return { endpoint, secret: secret.text };
}

export async function listEndpoints(deps: WebhookDeps, owner: Owner): Promise<Endpoint[]> {
  return listStored(deps.db, owner);
}

export async function readEndpoint(deps: WebhookDeps, owner: Owner, id: string): Promise<Endpoint> {
  const endpoint = await findEndpoint(deps.db, owner, id);
  if (!endpoint) throw refuse('webhook_endpoint_not_found');
  return endpoint;
}

export type EndpointChanges = Partial<EndpointWish> & { status?: Endpoint['status'] };

/**
 * What waits for the endpoint goes to its new address. While it is disabled nothing is queued for it, and what waits
 * already is kept; once it is enabled, whoever delivers takes that up as if it were new.
 */
export async function changeEndpoint(
  deps: WebhookDeps,
  owner: Owner,
  id: string,
  changes: EndpointChanges,
  actor: string,
): Promise<Endpoint> {
  await readEndpoint(deps, owner, id);
  const events = changes.events && checkedEvents(owner, changes.events);
  if (changes.url !== undefined) await checkUrl(deps, owner, changes.url);
  return change(deps, owner, id, { actor, action: 'webhook.endpoint_changed' }, (before) => {
    const after: Endpoint = {
      ...before,
      url: changes.url ?? before.url,
      events: events ?? before.events,
      description: changes.description === undefined ? before.description : changes.description,
      failingSince: changes.url === undefined ? before.failingSince : null,
    };
    if (changes.status === 'enabled') return enabled(after);
    return changes.status === 'disabled' ? disabled(after, 'requested', deps.now()) : after;
  });
}

export async function disableEndpoint(
  deps: WebhookDeps,
  owner: Owner,
  id: string,
  actor: string,
): Promise<Endpoint> {
  const note = { actor, action: 'webhook.endpoint_disabled' };
  return change(deps, owner, id, note, (before) => disabled(before, 'requested', deps.now()));
}

/**
 * For those who deliver. What they have heard is about the address they called: the endpoint may have a new one by now,
 * or may have taken something meanwhile. Tells whether it was disabled by this.
 */
export async function disableUnreachable(
  deps: WebhookDeps,
  owner: Owner,
  id: string,
  verdict: { reason: Exclude<DisabledReason, 'requested'>; url: string; at: Date },
): Promise<boolean> {
  let isDisabled = false;
  const note = { actor: 'webhooks', action: 'webhook.endpoint_disabled' };
  await change(deps, owner, id, note, (before) => {
    const isStillSo =
      before.url === verdict.url &&
      (verdict.reason === 'gone' || hasFailedTooLong(before.failingSince, verdict.at));
    const after = isStillSo ? disabled(before, verdict.reason, deps.now()) : before;
    isDisabled = after !== before;
    return after;
  });
  return isDisabled;
}

export async function enableEndpoint(
  deps: WebhookDeps,
  owner: Owner,
  id: string,
  actor: string,
): Promise<Endpoint> {
  return change(deps, owner, id, { actor, action: 'webhook.endpoint_enabled' }, enabled);
}

export async function deleteEndpoint(
  deps: WebhookDeps,
  owner: Owner,
  id: string,
  actor: string,
): Promise<void> {
  await deps.db.transaction(async (tx) => {
    if (!(await removeEndpoint(tx, owner, id))) throw refuse('webhook_endpoint_not_found');
    await note(deps, tx, { owner, id }, actor, 'webhook.endpoint_deleted');
  });
  await deleteWhatWaits(deps, owner, id);
}

const waitingBatch = 1_000;
const mostWaitingBatches = 20;

/** The endpoint is gone whatever happens here: nothing is sent, and what is left goes with the next clean-up. */
async function deleteWhatWaits(deps: WebhookDeps, owner: Owner, id: string): Promise<void> {
  try {
    // Until none are left: an event that was just being queued comes to light behind the one that it waited for.
    for (let batches = 0; batches < mostWaitingBatches; batches++) {
      if ((await deleteWaiting(deps.db, owner, id, waitingBatch)) === 0) return;
    }
  } catch (error) {
    deps.log.warn(
      { err: error, endpointId: id },
      'the queue of a deleted webhook endpoint is left for later',
    );
  }
}

/**
 * From now on both secrets sign, so that no receiver misses one while it changes over. During that time another new
 * secret would end the one that the receiver still holds, and has to be forced: for when both have become known.
 */
export async function rotateSecret(
  deps: WebhookDeps,
  owner: Owner,
  id: string,
  actor: string,
  { force = false }: { force?: boolean } = {},
): Promise<EndpointWithSecret> {
  return deps.db.transaction(async (tx) => {
    const endpoint = await lockEndpoint(tx, owner, id);
    if (!endpoint) throw refuse('webhook_endpoint_not_found');
    const now = deps.now();
    const isRotating = endpoint.previousSecretExpiresAt !== null && endpoint.previousSecretExpiresAt > now;
    if (isRotating && !force) throw refuse('webhook_rotation_in_progress');
    const secret = newSecret(deps, id);
    const previousUntil = new Date(now.getTime() + rotationMs);
    await saveNewSecret(tx, endpoint, { sealed: secret.sealed, previousUntil });
    await note(deps, tx, endpoint, actor, 'webhook.secret_rotated');
    return { endpoint: { ...endpoint, previousSecretExpiresAt: previousUntil }, secret: secret.text };
  });
}

async function change(
  deps: WebhookDeps,
  owner: Owner,
  id: string,
  { actor, action }: { actor: string; action: string },
  decide: (before: Endpoint) => Endpoint,
): Promise<Endpoint> {
  return deps.db.transaction(async (tx) => {
    const before = await lockEndpoint(tx, owner, id);
    if (!before) throw refuse('webhook_endpoint_not_found');
    const after = decide(before);
    if (after === before) return before;
    await saveEndpoint(tx, after);
    if (before.status === 'disabled' && after.status === 'enabled') {
      await saveRestart(tx, after, deps.now());
    }
    await note(deps, tx, after, actor, action);
    return after;
  });
}

function newSecret(deps: WebhookDeps, endpointId: string): { text: string; sealed: Buffer } {
  const bytes = randomBytes(secretBytes);
  return { text: secretText(bytes), sealed: seal(deps.secretsKey, bytes, endpointId) };
}

function checkedEvents(owner: Owner, events: string[]): string[] {
  const known = eventFilters(owner.kind);
  const errors = events.flatMap((event, at) =>
    known.includes(event)
      ? []
      : [{ pointer: `/events/${at}`, detail: `It must be one of ${known.join(', ')}.` }],
  );
  if (errors.length > 0) throw refuseRequest('invalid_request', 'See `errors` for each fault.', { errors });
  return [...new Set(events)];
}

/** How many addresses of each owner are being looked up. Each may take as long as a delivery, and costs a socket. */
const lookups = new Map<string, number>();

async function checkUrl(deps: WebhookDeps, owner: Owner, url: string): Promise<void> {
  const refused = (detail: string) =>
    refuse('webhook_url_not_allowed', detail, { errors: [{ pointer: '/url', detail }] });
  if (url.includes('#')) throw refused('The address must not have a fragment.');
  const key = ownerKey(owner);
  const underWay = lookups.get(key) ?? 0;
  if (underWay >= mostEndpoints) throw refuse('webhook_lookups_in_progress');
  lookups.set(key, underWay + 1);
  try {
    await checkOutgoingUrl(url, deps.outgoing, deps.resolve);
  } catch (error) {
    if (error instanceof OutgoingRefused || error instanceof OutgoingFailed) throw refused(error.message);
    throw error;
  } finally {
    const left = (lookups.get(key) ?? 1) - 1;
    if (left > 0) lookups.set(key, left);
    else lookups.delete(key);
  }
}

async function note(
  deps: WebhookDeps,
  tx: Transaction,
  endpoint: { owner: Owner; id: string },
  actor: string,
  action: string,
): Promise<void> {
  const details = { owner: ownerKey(endpoint.owner), endpointId: endpoint.id };
  await deps.audit(tx, { at: deps.now(), actor, action, details });
}
