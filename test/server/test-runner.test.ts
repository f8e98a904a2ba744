import assert from 'node:assert/strict';
import { chmod, readdir } from 'node:fs/promises';
import { test } from 'node:test';
import { processesOn, spawnOwnServer, temporaryFolder, until } from '../support/server.ts';

test('Ctrl-C in the tests stops their PostgreSQL and removes its folder', async (t) => {
  const folder = await temporaryFolder(t);
  // PostgreSQL's own user has to pass here when root runs the tests.
  await chmod(folder, 0o755);
  const { CHROMIUM_PATH = '' } = process.env;
  const command = ['--import', 'tsx', 'scripts/test.ts', 'test/server/fixtures/endless.ts'];
  const runner = spawnOwnServer(t, { TMPDIR: folder, CHROMIUM_PATH }, [process.execPath, ...command]);
  await until('the test runs', () => {
    assert.ok(!runner.hasEnded(), runner.stdout() + runner.stderr());
    return (runner.stdout() + runner.stderr()).includes('endless');
  });
  assert.ok((await processesOn(folder)).length > 0);
  // A terminal signals every process of the group.
  process.kill(-Number(runner.child.pid), 'SIGINT');
  assert.notEqual(await runner.ended, 0);
  assert.deepEqual(await processesOn(folder), []);
  assert.deepEqual(
    (await readdir(folder)).filter((entry) => entry.startsWith('tollgate-test-')),
    [],
  );
});
