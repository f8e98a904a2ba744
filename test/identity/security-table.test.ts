import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { packageRoot } from '../../src/package.ts';

const rows = readFileSync(new URL('docs/security.md', packageRoot), 'utf8')
  .split('\n')
  .flatMap((line) => {
    const [, number, , proof] = /^\| R(\d+) \| (.+) \| (.+) \|$/.exec(line) ?? [];
    return number && proof ? [{ number: Number(number), proof }] : [];
  });

const folder = new URL('test/identity/', packageRoot);
const testNames = readdirSync(folder)
  .filter((file) => file.endsWith('.test.ts'))
  .flatMap((file) => [
    ...readFileSync(new URL(file, folder), 'utf8').matchAll(/\btest\(\s*(['"`])(.*?)\1,/gs),
  ])
  .map(([, , name = '']) => name);
const tested = numbersAfter('R');

test('the table of requirements has each of the 85 once', () => {
  assert.deepEqual(
    rows.map((row) => row.number),
    Array.from({ length: 85 }, (_, at) => at + 1),
  );
});

test('each requirement that applies has a test of its number, and no other has one', () => {
  assert.ok(testNames.length > 100);
  const promised = rows.filter((row) => row.proof === 'test').map((row) => row.number);
  assert.deepEqual(
    [...tested].sort((left, right) => left - right),
    promised,
  );
});

test('what does not apply says why', () => {
  for (const row of rows)
    if (row.proof !== 'test') assert.match(row.proof, /^not (offered|applicable)/, `R${row.number}`);
});

test('the cases T01 to T47 each have a test', () => {
  const cases = numbersAfter('T');
  for (let number = 1; number <= 47; number++) assert.ok(cases.has(number), `T${number}`);
});

function numbersAfter(letter: string): Set<number> {
  return new Set(
    testNames.flatMap((name) =>
      [...name.matchAll(new RegExp(`\\b${letter}(\\d{1,2})\\b`, 'g'))].map(([, n]) => Number(n)),
    ),
  );
}
