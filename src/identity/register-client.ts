import { createHash, randomUUID } from 'node:crypto';
import type { IdentityDeps } from './deps.ts';
import { type RegistrationFault, registrationFaults } from './domain/client-registration.ts';
import { insertClient, type NewClient, renewClient } from './store/clients.ts';

export class ClientRefused extends Error {
  readonly faults: RegistrationFault[];

  constructor(faults: RegistrationFault[]) {
    super(faults.map((fault) => `${fault.field}: ${fault.detail}`).join('\n'));
    this.name = 'ClientRefused';
    this.faults = faults;
  }
}

/** Registers a client; false when there is one of this name. One that could lead people astray is refused. */
export async function registerClient(deps: IdentityDeps, client: NewClient): Promise<boolean> {
  const faults = registrationFaults(client, { local: deps.config.env === 'local' });
  if (faults.length > 0) throw new ClientRefused(faults);
  return insertClient(deps.db, client, deps.now());
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
  if (!(await registerClient(deps, client))) await renewClient(deps.db, client);
}

export type BuiltInClient = { clientId: string; clientSecret: string; name: string; redirectUri: string };
