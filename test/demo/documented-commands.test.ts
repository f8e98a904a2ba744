import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { declineReasons } from '../../src/checkout/domain/acquirer.ts';
import { packageRoot } from '../../src/package.ts';
import { startTestApp } from '../support/app.ts';
import { freePort } from '../support/free-port.ts';
import { paidPayment, refund } from '../support/merchant.ts';
import { bearer, logIn } from '../support/partner.ts';

const port = await freePort();
const service = await startTestApp({ PORT: String(port) });
await service.app.listen({ port, host: '127.0.0.1' });

/** What is not run here, and where it is run instead. */
const runElsewhere: [RegExp, string][] = [
  [/^npm ci && npm start$/, 'test/server/start-and-stop'],
  [/^npm ci && npm test$/, 'continuous integration'],
  [/^npm ci\nnpm run dev/, 'a list of commands for contributors'],
  [/^node examples\//, 'test/demo/examples'],
  [/^tollgate /, 'test/cli'],
  [/^npm run torture/, 'test/server/torture, in its short form'],
  [/^npm run fuzz/, 'test/pages/fuzz, in its short form'],
];

type Block = { file: string; line: number; kind: string; text: string };

function blocksOf(file: string): Block[] {
  const text = readFileSync(new URL(file, packageRoot), 'utf8');
  return [...text.matchAll(/^```(\w*)\n([\s\S]*?)\n```$/gm)].map((match) => ({
    file,
    line: text.slice(0, match.index).split('\n').length,
    kind: match[1] ?? '',
    text: match[2] ?? '',
  }));
}

const files = [
  'README.md',
  'CONTRIBUTING.md',
  ...readdirSync(new URL('docs/', packageRoot))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
];
const blocks = files.flatMap(blocksOf);
// The guide to events has a test of its own, test/webhooks/documented, which runs its receiver as well.
const commands = blocks.filter(({ text, file }) => /^curl /m.test(text) && file !== 'docs/events.md');

test('every curl of the documents does what its text says', async () => {
  assert.ok(commands.length >= 5);
  const paymentId = (await paidPayment(service)).id;
  for (const { file, line, text } of commands) {
    const command = text
      .replaceAll('http://localhost:3000', `http://localhost:${port}`)
      .replaceAll('PAYMENT_ID', paymentId);
    const { stdout } = await promisify(execFile)('bash', ['-c', command]);
    const answer = JSON.parse(stdout) as { code?: string; error?: string };
    assert.equal(answer.code ?? answer.error, undefined, `${file}:${line} ${stdout}`);
  }
});

test('every JSON of the documents is JSON', () => {
  for (const { file, line, text } of blocks.filter(({ kind }) => kind === 'json')) {
    // Several answers may stand one below the other; what is left out is written as an ellipsis.
    const whole = text.replace(/\{\s*…\s*\}/g, '{}').replace(/,\s*…/g, '');
    const values = /^\}?\n?\{.*\}\n\{/.test(whole) ? whole.split('\n') : [whole];
    for (const value of values) assert.doesNotThrow(() => JSON.parse(value), `${file}:${line}`);
  }
});

test('the merchant’s guide shows every field of a payment and of a refund, and every reason of a decline', async () => {
  const payment = await paidPayment(service);
  const made = [payment, (await refund(service, payment.id, '1.00')).json<object>()];
  const shown = blocks
    .filter(({ file, kind }) => file === 'docs/checkout.md' && kind === 'json')
    .map(({ text }) => JSON.parse(text) as object);
  assert.deepEqual(shown.map(namesOf), made.map(namesOf));
  const guide = readFileSync(new URL('docs/checkout.md', packageRoot), 'utf8');
  for (const reason of declineReasons) assert.ok(guide.includes(`\`${reason}\``), reason);
});

test('the partner’s guide shows a profile as it comes', async () => {
  const tokens = await logIn(service, { changes: { scope: 'openid profile phone' } });
  const answers = await Promise.all(
    ['v1', 'v2'].map((version) =>
      service.app.inject({
        url: `/api/${version}/openid-connect/userinfo`,
        headers: bearer(tokens.access_token),
      }),
    ),
  );
  const shown = blocks
    .filter(
      ({ file, kind, text }) => file === 'docs/identity.md' && kind === 'json' && text.includes('"sub"'),
    )
    .map(({ text }) => JSON.parse(text) as object);
  assert.deepEqual(
    shown.map(namesOf),
    answers.map((answer) => namesOf(answer.json<object>())),
  );
});

/** The names of its fields, those of the fields within them too. */
function namesOf(value: object): string[] {
  return Object.entries(value)
    .flatMap(([name, inner]) =>
      inner && typeof inner === 'object' ? [name, ...namesOf(inner).map((one) => `${name}.${one}`)] : [name],
    )
    .sort();
}

test('no block of commands is run by nobody', () => {
  for (const { file, line, kind, text } of blocks) {
    const isCommand = kind === 'sh' || (kind === '' && /^(npm|npx|node|sh|docker|curl) /m.test(text));
    if (!isCommand || /^curl /m.test(text)) continue;
    assert.ok(
      runElsewhere.some(([form]) => form.test(text)),
      `${file}:${line} is run by no test: ${text}`,
    );
  }
});
