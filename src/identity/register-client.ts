import { OperatorRefusal } from '../platform/operator-refusal.ts';
import type { IdentityDeps } from './deps.ts';
import { type RegistrationFault, registrationFaults } from './domain/client-registration.ts';
import { writeAudit } from './store/audit.ts';
import { insertClient, type NewClient } from './store/clients.ts';

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
