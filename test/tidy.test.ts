import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { test } from 'node:test';
import { generatedFiles } from '../scripts/generate-docs.ts';
import { packageRoot } from '../src/package.ts';

const root = new URL('.', packageRoot).pathname;
const sources = filesUnder('src').filter((file) => /\.tsx?$/.test(file));
const tests = filesUnder('test').filter((file) => /\.tsx?$/.test(file));
const documents = [
  'README.md',
  'CONTRIBUTING.md',
  ...filesUnder('docs').filter((file) => file.endsWith('.md')),
];
const imports = new Map(
  [...sources, ...tests, ...filesUnder('scripts')].map((file) => [file, importsOf(file)]),
);

test('the tidy checks look at the real tree', () => {
  assert.ok(sources.includes('src/main.ts'));
  assert.ok(sources.length > 20);
  assert.ok([...imports.values()].flat().length > sources.length);
});

test('no area imports another, and platform knows none', () => {
  const areas = ['src/identity/', 'src/checkout/', 'src/webhooks/'];
  const walls = [...areas, 'src/platform/'].flatMap((from) =>
    areas.filter((to) => to !== from).map((to) => ({ from, to })),
  );
  for (const { from, to } of walls) {
    for (const [file, targets] of imports) {
      if (file.startsWith(from))
        assert.deepEqual(
          targets.filter((target) => target.startsWith(to)),
          [],
          file,
        );
    }
  }
});

test('only the files at the top of src and the command line know more than one area', () => {
  for (const [file, targets] of imports) {
    if (!/^src\/(identity|checkout|webhooks|platform)\//.test(file)) continue;
    const outward = targets.filter(
      (target) => /^src\/([^/]+|cli\/.+)$/.test(target) && target !== 'src/config.ts',
    );
    assert.deepEqual(outward, [], file);
  }
});

test('the data flows one way: an endpoint is known to the plugin of its area alone', () => {
  for (const [file, targets] of imports) {
    if (/^src\/\w+\/(plugin\.ts$|routes\/)/.test(file)) continue;
    assert.deepEqual(
      targets.filter((target) => /^src\/\w+\/routes\//.test(target)),
      [],
      file,
    );
  }
});

test('the domain is pure: it imports nothing but its own kind and plain types', () => {
  for (const [file, targets] of imports) {
    if (!/^src\/\w+\/domain\//.test(file)) continue;
    const area = file.split('/').slice(0, 3).join('/');
    const outside = targets.filter(
      (target) => !target.startsWith(area) && target !== 'src/platform/brand.ts',
    );
    assert.deepEqual(outside, [], file);
    const text = read(file);
    assert.ok(
      !/\bDate\.now\(|new Date\(\)|Math\.random|randomBytes|randomUUID|from 'pg'|from 'fastify'/.test(text),
      file,
    );
  }
});

test('every source file is reached from a program', () => {
  const reached = new Set<string>();
  const visit = (file: string) => {
    if (reached.has(file)) return;
    reached.add(file);
    for (const target of imports.get(file) ?? []) visit(target);
  };
  for (const entry of ['src/main.ts', 'src/cli.ts']) if (sources.includes(entry)) visit(entry);
  assert.deepEqual(
    sources.filter((file) => !reached.has(file)),
    [],
  );
});

test('every script is named by an npm script, another script or a document', () => {
  const places = ['package.json', ...filesUnder('scripts'), ...documents];
  for (const script of filesUnder('scripts')) {
    const name = script.split('/').at(-1) ?? '';
    assert.ok(
      places.some((place) => place !== script && read(place).includes(name)),
      `nobody names ${script}`,
    );
  }
});

test('there are no re-export files and no names that say nothing', () => {
  for (const file of [...sources, ...tests]) {
    assert.doesNotMatch(file, /(^|\/)(index|utils?|helpers?|common|misc)\.tsx?$/);
    assert.match(file.split('/').at(-1) ?? '', /^[a-z0-9-]+(\.test)?\.tsx?$/, file);
  }
});

test('nothing is left open or silenced', () => {
  const marks = new RegExp(
    ['TO' + 'DO', 'FIX' + 'ME', '@ts-' + 'ignore', '@ts-' + 'expect-error', 'biome-' + 'ignore'].join('|'),
  );
  for (const file of [...sources, ...tests]) assert.doesNotMatch(read(file), marks, file);
  for (const file of tests) assert.doesNotMatch(read(file), /\b(test|describe|it)\.only\(/, file);
});

test('what is generated from the code is equal to it', () => {
  const files = Object.entries(generatedFiles());
  assert.ok(files.length >= 3);
  for (const [path, expected] of files) assert.equal(read(path), expected, `${path}: run npm run docs`);
});

test('continuous integration runs exactly the test command of the README', () => {
  const command = 'npm ci && npm test';
  assert.match(read('README.md'), new RegExp(`^${command}$`, 'm'));
  assert.match(read('.ci/run'), new RegExp(`^${command}$`, 'm'));
});

test('links between the documents lead somewhere', () => {
  let links = 0;
  for (const file of documents) {
    for (const [, target = ''] of read(file).matchAll(/\]\((?!https?:|#|mailto:)([^)#\s]+)[^)]*\)/g)) {
      links++;
      assert.doesNotThrow(() => readdirOrFile(join(dirname(file), target)), `${file} links to ${target}`);
    }
  }
  assert.ok(links > 5);
});

function importsOf(file: string): string[] {
  const found = [...read(file).matchAll(/(?:from|import)\s*\(?\s*'(\.[^']+)'/g)];
  return found.map(([, target = '']) => relative(root, resolve(root, dirname(file), target)));
}

function filesUnder(folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(root, join(entry.parentPath, entry.name)))
    .sort();
}

function readdirOrFile(path: string): void {
  try {
    readFileSync(join(root, path));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EISDIR') throw error;
  }
}

function read(file: string): string {
  return readFileSync(join(root, file), 'utf8');
}
