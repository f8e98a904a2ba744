import { fileURLToPath } from 'node:url';
import { packageRoot } from '../../src/package.ts';

/** Where the test runner has put a program of the tests: `fixture('platform/fixtures/slow-worker')`. */
export function fixture(path: string): string {
  return fileURLToPath(new URL(`dist-test/test/${path}.js`, packageRoot));
}
