import { deriveKey } from '../platform/seal.ts';
import type { IdentityKeys } from './deps.ts';

/** The inner keys of the area. The names are part of them: a changed one opens nothing that was sealed before. */
export function deriveIdentityKeys(keysSecret: string): IdentityKeys {
  return {
    signing: deriveKey(keysSecret, 'signing keys'),
    flow: deriveKey(keysSecret, 'login flow'),
    csrf: deriveKey(keysSecret, 'form token'),
    device: deriveKey(keysSecret, 'known device'),
    documents: deriveKey(keysSecret, 'identity documents'),
  };
}
