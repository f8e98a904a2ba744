import type { Transaction } from '../platform/db.ts';
import { OperatorRefusal } from '../platform/operator-refusal.ts';
import { builtInClientIds, type Client } from './domain/client.ts';
import { registrationFaults } from './domain/client-registration.ts';
import { type ClientDeps, ClientRefused } from './register-client.ts';
import { writeAudit } from './store/audit.ts';
import {
  type ClientSettings,
  lockClient,
  revokeSomeGrantsOfClient,
  setClientDisabledAt,
  setClientSecret,
  setClientSettings,
} from './store/clients.ts';

type Named = { clientId: string; actor: string };

/** Changes what is given and leaves the rest; tells the names of what changed. */
export async function updateClient(
  deps: ClientDeps,
  { clientId, actor, changes }: Named & { changes: Partial<ClientSettings> },
): Promise<string[]> {
  refuseBuiltIn(clientId);
  return deps.db.transaction(async (tx) => {
    const before = await lockKnownClient(tx, clientId);
    const after = { ...before, ...changes };
    const faults = registrationFaults(after, { local: deps.config.env === 'local' });
    if (faults.length > 0) throw new ClientRefused(faults);
    const fields = (Object.keys(changes) as (keyof ClientSettings)[]).filter(
      (field) => JSON.stringify(before[field]) !== JSON.stringify(after[field]),
    );
    if (fields.length === 0) return [];
    await setClientSettings(tx, clientId, after);
    const details = { clientId, fields };
    await writeAudit(tx, { at: deps.now(), actor, action: 'client.updated', details });
    return fields;
  });
}

/**
 * From now on the new secret counts, and the one before it for `keepOldMs` more; any older one no longer. That older
 * one may be the only one that the partner has yet, so while it is still good it is ended only by `force`.
 */
export async function rotateClientSecret(
  deps: ClientDeps,
  {
    clientId,
    actor,
    secretHash,
    keepOldMs,
    force,
  }: Named & { secretHash: Buffer; keepOldMs: number; force: boolean },
): Promise<{ oldValidUntil: Date | null }> {
  refuseBuiltIn(clientId);
  return deps.db.transaction(async (tx) => {
    const client = await lockKnownClient(tx, clientId);
    const at = deps.now();
    const until = client.previousSecretExpiresAt;
    if (until && until > at && !force) {
      throw new OperatorRefusal(
        'found',
        `The secret was changed lately, and the one before it is good until ${until.toISOString()}; another change would end that one now: wait, or add --force when it is meant.`,
      );
    }
    const oldValidUntil =
      keepOldMs > 0 && client.secretHash !== null ? new Date(at.getTime() + keepOldMs) : null;
    await setClientSecret(tx, clientId, {
      hash: secretHash,
      previousHash: oldValidUntil && client.secretHash,
      previousExpiresAt: oldValidUntil,
    });
    const details = { clientId, oldValidUntil: oldValidUntil?.toISOString() ?? at.toISOString() };
    await writeAudit(tx, { at, actor, action: 'client.secret_rotated', details });
    return { oldValidUntil };
  });
}

/**
 * Shuts a client out: from the commit on nothing that it was ever granted is taken, because every use looks at the
 * client. What it was granted is revoked besides, so that none of it wakes up should the client be let in again.
 * False when it was shut out before.
 */
export async function disableClient(
  deps: ClientDeps,
  { clientId, actor }: Named,
  onProgress: (revoked: number) => void,
): Promise<boolean> {
  const changed = await deps.db.transaction(async (tx) => {
    const client = await lockKnownClient(tx, clientId);
    if (client.disabledAt) return false;
    const at = deps.now();
    await setClientDisabledAt(tx, clientId, at);
    await writeAudit(tx, { at, actor, action: 'client.disabled', details: { clientId } });
    return true;
  });
  await revokeGrants(deps, clientId, onProgress);
  return changed;
}

/** Lets a client in again. People have to log in anew. False when it was not shut out. */
export async function enableClient(
  deps: ClientDeps,
  { clientId, actor }: Named,
  onProgress: (revoked: number) => void,
): Promise<boolean> {
  // Once more: an exchange that was under way when the client was disabled may have left something.
  const { disabledAt } = await deps.db.transaction((tx) => lockKnownClient(tx, clientId));
  if (!disabledAt) return false;
  await revokeGrants(deps, clientId, onProgress);
  return deps.db.transaction(async (tx) => {
    const client = await lockKnownClient(tx, clientId);
    if (!client.disabledAt) return false;
    await setClientDisabledAt(tx, clientId, null);
    await writeAudit(tx, { at: deps.now(), actor, action: 'client.enabled', details: { clientId } });
    return true;
  });
}

const batchSize = 500;

async function revokeGrants(deps: ClientDeps, clientId: string, onProgress: (revoked: number) => void) {
  let revoked = 0;
  for (;;) {
    const batch = await revokeSomeGrantsOfClient(deps.db, { clientId, at: deps.now(), limit: batchSize });
    if (batch === 0) return;
    revoked += batch;
    onProgress(revoked);
  }
}

/** The next start of a server would undo it, and until then the payment page could sign nobody in. */
function refuseBuiltIn(clientId: string): void {
  if (!builtInClientIds.includes(clientId)) return;
  throw new OperatorRefusal(
    'found',
    `The client ${clientId} is our own: the server keeps it as the settings say, and its secret follows from KEYS_SECRET.`,
  );
}

async function lockKnownClient(tx: Transaction, clientId: string): Promise<Client> {
  const client = await lockClient(tx, clientId);
  if (!client) throw clientNotFound(clientId);
  return client;
}

export function clientNotFound(clientId: string): OperatorRefusal {
  return new OperatorRefusal(
    'found',
    `There is no client ${clientId}; see them all with: tollgate client list`,
  );
}
