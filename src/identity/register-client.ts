import { createHash, randomUUID } from 'node:crypto';
import { OperatorRefusal } from '../platform/operator-refusal.ts';
import type { IdentityDeps } from './deps.ts';
import { type RegistrationFault, registrationFaults } from './domain/client-registration.ts';
import { writeAudit } from './store/audit.ts';
import { insertClient, type NewClient, renewClient } from './store/clients.ts';

export type ClientDeps = Pick<IdentityDeps, 'db' | 'now' | 'config'>;

export class ClientRefused extends OperatorRefusal {
  override readonly name = 'ClientRefused';
  readonly faults: RegistrationFault[];

  constructor(faults: RegistrationFault[]) {
    super('given', faults.map((fault) => `${fault.field}: ${fault.detail}`).join('\n'));
    this.faults = faults;
  }
}

/** Registers a client; false when there is one of this name. One that could lead people astray is refused. */
export async function registerClient(deps: ClientDeps, client: NewClient, actor: string): Promise<boolean> {
  const faults = registrationFaults(client, { local: deps.config.env === 'local' });
  if (faults.length > 0) throw new ClientRefused(faults);
  return deps.db.transaction(async (tx) => {
    const at = deps.now();
    if (!(await insertClient(tx, client, at))) return false;
    const { clientId, grantTypes, scopes, redirectUris, merchantId } = client;
    const details = { clientId, grantTypes, scopes, redirectUris, ...(merchantId ? { merchantId } : {}) };
    await writeAudit(tx, { at, actor, action: 'client.created', details });
    return true;
  });
}

/** A client of our own, made at start: it is there, with this secret and this address, whatever was there before. */
export async function keepBuiltInClient(
  deps: IdentityDeps,
  { clientId, clientSecret, name, redirectUri }: BuiltInClient,
): Promise<void> {
  const client: NewClient = {
    id: randomUUID(),
    clientId,
    name,
    audience: 'ecosystem',
    grantTypes: ['authorization_code'],
    scopes: ['openid', 'profile', 'phone'],
    redirectUris: [redirectUri],
    postLogoutRedirectUris: [],
    backchannelLogoutUri: null,
    secretHash: createHash('sha256').update(clientSecret).digest(),
    requirePkce: true,
    requireState: true,
    identityDocuments: false,
    accessTokenAlg: 'ES256',
    idTokenAlg: 'ES256',
    accessTokenSeconds: 300,
    refreshTokenSeconds: 1800,
    merchantId: null,
  };
  if (!(await registerClient(deps, client, 'start'))) await renewClient(deps.db, client);
}

export type BuiltInClient = { clientId: string; clientSecret: string; name: string; redirectUri: string };
