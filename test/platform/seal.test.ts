import assert from 'node:assert/strict';
import { hkdfSync } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { deriveKey } from '../../src/platform/seal.ts';

test('a key is derived by HKDF with SHA-256, whatever the secret and the purpose', () => {
  const secrets = fc.oneof(fc.string(), fc.uint8Array({ maxLength: 200 }));
  fc.assert(
    fc.property(secrets, fc.string(), (given, purpose) => {
      const secret = typeof given === 'string' ? given : Buffer.from(given);
      const expected = Buffer.from(hkdfSync('sha256', secret, '', `tollgate ${purpose}`, 32));
      assert.deepEqual(deriveKey(secret, purpose), expected);
    }),
  );
});
