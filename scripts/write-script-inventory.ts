/** Part of the build: writes what runs on the payment page, and why, to `dist/script-inventory.json`. */
import { writeFileSync } from 'node:fs';
import { scriptInventory } from '../src/checkout/script-inventory.ts';
import { packageRoot } from '../src/package.ts';

const path = new URL('dist/script-inventory.json', packageRoot);
writeFileSync(path, `${JSON.stringify(scriptInventory, null, 2)}\n`);
