import type { IdentityDeps } from './deps.ts';
import { type RegistrationFault, registrationFaults } from './domain/client-registration.ts';
import { insertClient, type NewClient } from './store/clients.ts';

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
