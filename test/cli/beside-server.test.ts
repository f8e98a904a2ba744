import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { after, test } from 'node:test';
import type { UserId } from '../../src/identity/domain/user.ts';
import { openDatabase } from '../../src/platform/db.ts';
import { findRunningEmbeddedPostgres } from '../../src/platform/embedded-postgres.ts';
import { commandLine } from '../support/command-line.ts';
import { patience } from '../support/database.ts';
import { freePort } from '../support/free-port.ts';
import { listen } from '../support/listen.ts';
import { startOwnServer, temporaryFolder, until } from '../support/server.ts';
import { addSession } from '../support/sessions.ts';

const DATA_DIR = await temporaryFolder({ after });
const PORT = String(await freePort());
const server = await startOwnServer({ after }, { DATA_DIR, PORT });
const cli = commandLine({ DATA_DIR, PORT });
const receiver = createServer();
const receiverPort = await listen(receiver);

async function tokenStatus(clientId: string, secret: string): Promise<number> {
  const answer = await fetch(`${server.url}/api/v2/openid-connect/token`, {
    method: 'POST',
    body: new URLSearchParams({
      grant_type: 'client_credentials',
      client_id: clientId,
      client_secret: secret,
    }),
  });
  await answer.arrayBuffer();
  return answer.status;
}

test('the doctor finds a running server and its own database well', async () => {
  const { healthy } = await cli.json<{ healthy: boolean }>('doctor');
  assert.equal(healthy, true);
});

test('a client made beside a running server works at once, and stops when it is disabled', async () => {
  const { clientSecret } = await cli.json<{ clientSecret: string }>(
    'client create robot --name Robot --grant client_credentials --scope openid',
  );
  assert.equal(await tokenStatus('robot', clientSecret), 200);
  await cli.json('client disable robot');
  await until('the client is shut out', async () => (await tokenStatus('robot', clientSecret)) === 401);
});

test('after a logout by an operator the server tells the clients', async () => {
  let told = '';
  receiver.on('request', (request, response) => {
    request.on('data', (chunk: Buffer) => (told += chunk));
    request.on('end', () => response.writeHead(204).end());
  });
  await cli.json(
    `client create listener --name Listener --redirect-uri http://localhost:4000/cb --backchannel-logout-uri http://127.0.0.1:${receiverPort}/logout`,
  );
  const { user } = await cli.json<{ user: { id: UserId } }>('user show +994500000001');
  const url = (await findRunningEmbeddedPostgres(DATA_DIR)) ?? '';
  const db = openDatabase({ url, poolSize: 1, onConnectionError: () => {}, limits: patience });
  const sid = await addSession(db, { userId: user.id, clientIds: ['listener'], authTime: new Date() });
  await db.close();
  await cli.json('user logout +994500000001');
  await until('the client is told', () => told.includes('logout_token='));
  const [, claims = ''] = told.split('.');
  const { sub, sid: toldSid } = JSON.parse(Buffer.from(claims, 'base64url').toString()) as Record<
    string,
    string
  >;
  assert.deepEqual([sub, toldSid], [user.id, sid]);
});

test('without a server the database runs for as long as the command, and the doctor says what is missing', async () => {
  server.child.kill('SIGTERM');
  await server.ended;
  assert.match(await cli.text('client list'), /robot +Robot +disabled/);
  assert.equal(await findRunningEmbeddedPostgres(DATA_DIR), undefined);
  const { code, stdout } = await cli.run('doctor');
  assert.equal(code, 1);
  assert.match(
    stdout,
    /fault +jobs +Nobody takes up jobs[\s\S]*fault +BASE_URL +\S+ cannot be reached \(ECONNREFUSED\)/,
  );
});
