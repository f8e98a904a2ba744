import type { Client } from './client.ts';
import type { Profile } from './user.ts';

export type ChangedField = keyof Profile | 'phone';

/** What decides how much of a person a partner may see. */
export type PartnerView = Pick<Client, 'audience' | 'identityDocuments'> & {
  scopes: string[];
  consentsToDocuments: boolean;
};

/** The fields of which the partner may know that they changed: those that the profile call would show it. */
export function visibleFields(partner: PartnerView, fields: readonly ChangedField[]): ChangedField[] {
  const trusted = partner.audience === 'ecosystem';
  return fields.filter((field) => {
    switch (field) {
      case 'phone':
      case 'verificationStatus':
        return true;
      case 'pin':
      case 'idCardNumber':
        return partner.identityDocuments && (trusted || partner.consentsToDocuments);
      default:
        return trusted || partner.scopes.includes('profile');
    }
  });
}
