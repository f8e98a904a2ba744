import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { shown } from '../../src/cli/command.ts';
import { packageRoot } from '../../src/package.ts';
import { argumentsOf, leaves, tollgate } from '../support/command-line.ts';

const all = leaves();
const sources = readdirSync(new URL('test/cli/', packageRoot))
  .map((file) => readFileSync(new URL(`test/cli/${file}`, packageRoot), 'utf8'))
  .join('\n');

test('every command says what it does, with an example and the form of its JSON', () => {
  assert.ok(all.length > 35);
  for (const { path, command } of all) {
    const given = shown(command);
    assert.ok(given, path);
    assert.ok(given.about.length > 10, path);
    assert.ok(given.examples.length > 0, path);
    assert.ok(Object.keys(given.json).length > 0, path);
    let help = '';
    command.configureOutput({ writeOut: (text) => (help += text) }).outputHelp();
    assert.match(help, /^Usage: tollgate /, path);
    assert.ok(help.includes(`  ${given.examples[0]}\n`), path);
    assert.match(help, /\nWith --json:\n {2}\{/, path);
    assert.ok(help.includes('--json'), path);
  }
});

test('every example is a command line that the command would take', () => {
  for (const { path, command } of all) {
    for (const example of shown(command)?.examples ?? []) {
      const line = example.replace(/^.*\| /, '').replace(/ < .*$/, '');
      assert.ok(line.startsWith(`tollgate ${path}`), example);
      const words = argumentsOf(line.slice(`tollgate ${path}`.length));
      const known = new Set(command.options.map((option) => option.long));
      for (const word of words.filter((one) => one.startsWith('--'))) assert.ok(known.has(word), example);
      const required = command.options.filter((option) => option.mandatory).map((option) => option.long);
      for (const option of required) assert.ok(words.includes(option ?? ''), example);
    }
  }
});

test('whatever changes something can be told who does it; no option takes a secret itself', () => {
  const reading = /^(show|list|sessions|balance|events|deliveries|tail|verify-ledger|doctor)$/;
  for (const { path, command } of all) {
    const names = command.options.map((option) => option.long ?? '');
    if (!reading.test(command.name())) assert.ok(names.includes('--actor'), path);
    for (const name of names)
      assert.doesNotMatch(name, /^--(client-)?(secret|password|pin|token|id-card.*)$/, path);
  }
});

test('every command is run by some test', () => {
  for (const { path } of all) assert.ok(new RegExp(`['"\`]${path}(?![-\\w])`).test(sources), path);
});

test('help and version need no setting and no database', async () => {
  const lines = ['--help', '--version', 'client --help', 'client create --help', 'help user'];
  await Promise.all(
    lines.map(async (line) => {
      const { code, stdout, stderr } = await tollgate({ TOLLGATE_ENV: 'production' }, line);
      assert.equal(code, 0, line + stderr);
      assert.ok(stdout.length > 0 && stderr === '', line);
    }),
  );
});

test('the help says whose database it is, and which one without any setting', async () => {
  const { stdout } = await tollgate({}, '--help');
  assert.match(
    stdout,
    /DATABASE_URL[\s\S]*Without any it takes the\nenvironment local and the database in \.\/\.data/,
  );
});

test('a wrong argument of any command is told in one sentence, with exit code 2', async () => {
  const lines = [
    ...all.map(({ path }) => `${path} --no-such-option`),
    'no-such-command',
    'client no-such-command',
  ];
  for (let at = 0; at < lines.length; at += 4) {
    await Promise.all(
      lines.slice(at, at + 4).map(async (line) => {
        const { code, stdout, stderr } = await tollgate({ TOLLGATE_ENV: 'production' }, line);
        assert.equal(code, 2, line);
        assert.equal(stdout, '', line);
        assert.match(
          stderr,
          /^(unknown (option|command) '(--)?no-such-\w+'|required option '--\w).*\n$/,
          line,
        );
      }),
    );
  }
});

test('a setting that is wrong is named, with exit code 2', async () => {
  const { code, stderr } = await tollgate({ TOLLGATE_ENV: 'mars' }, 'client list');
  assert.equal(code, 2);
  assert.match(stderr, /^TOLLGATE_ENV: "mars" is not one of .*\n$/);
});
