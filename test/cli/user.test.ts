import assert from 'node:assert/strict';
import { hostname, userInfo } from 'node:os';
import { test } from 'node:test';
import { topUpWallet } from '../../src/checkout/top-up.ts';
import type { UserId } from '../../src/identity/domain/user.ts';
import { startTestApp } from '../support/app.ts';
import { auditOf, commandLine } from '../support/command-line.ts';
import { testDatabaseUrl } from '../support/database.ts';
import { bearer } from '../support/partner.ts';
import { addPerson, obtainTokens, register, testPhonesSetting } from '../support/registered.ts';
import { addSession, queuedNotices, sessionState } from '../support/sessions.ts';

type UserJson = {
  id: UserId;
  status: string;
  phone: string | null;
  mergedInto: string | null;
  profile: { firstName: string | null; pin: string | null; verificationStatus: string; gender: string };
  oldCustomerIds: string[];
};

const url = await testDatabaseUrl();
const service = await startTestApp({ DATABASE_URL: url, TEST_PHONES: testPhonesSetting });
const { db } = service;
const cli = commandLine({ DATABASE_URL: url });
const somebody = `cli:${userInfo().username}@${hostname()}`;
const show = async (who: string) => (await cli.json<{ user: UserJson }>(`user show ${who}`)).user;

test('a person is made, and found again by number in any spelling or by identifier', async () => {
  const documents = JSON.stringify({ pin: '7ABCD12', idCardNumber: 'AA1234567', gender: 'FEMALE' });
  const { user } = await cli.json<{ user: UserJson }>(
    'user create --phone "050 600 00 01" --first-name Aysel --verification verified --profile -',
    { stdin: documents },
  );
  assert.equal(user.phone, '+994506000001');
  assert.equal(user.profile.verificationStatus, 'VERIFIED');
  assert.equal(user.profile.gender, 'FEMALE');
  assert.equal(user.profile.pin, '*****12');
  assert.deepEqual(await auditOf(db, 'identity', user.id), [`${somebody} user.created`]);
  assert.deepEqual(await show(user.id), user);
  assert.deepEqual(await show('+994506000001'), user);
});

test('document numbers are masked; who asks for them leaves a row', async () => {
  const { id } = await addPerson(service, { pin: '5XYZ001', idCardNumber: 'AA7654321' });
  const masked = await cli.text(`user show ${id}`);
  assert.doesNotMatch(masked, /5XYZ001|AA7654321/);
  const open = await cli.text(`user show ${id} --documents --actor aysel`);
  assert.match(open, /5XYZ001[\s\S]*AA7654321/);
  assert.deepEqual(await auditOf(db, 'identity', id), ['aysel user.documents_shown', 'test user.created']);
});

test('a profile changes where it was told to, and a number together with it or not at all', async () => {
  const { id } = await addPerson(service, { firstName: 'Aysel', patronymic: 'Rəşid qızı' });
  const { user, changed } = await cli.json<{ user: UserJson; changed: string[] }>(
    `user update ${id} --first-name Leyla --clear patronymic --resident yes --phone +994506000002`,
  );
  assert.deepEqual([user.profile.firstName, user.phone], ['Leyla', '+994506000002']);
  assert.deepEqual(changed, ['firstName', 'patronymic', 'resident', 'phone']);
  assert.deepEqual((await auditOf(db, 'identity', id)).slice(0, 2), [
    `${somebody} user.phone_changed`,
    `${somebody} user.profile_updated`,
  ]);
  const both = `user update ${id} --first-name Nobody --phone +994500000001`;
  await cli.refused(both, 1, /The phone number belongs to another account/);
  assert.equal((await show(id)).profile.firstName, 'Leyla');
  await cli.refused(`user update ${id} --birth-date 1990-02-30`, 2, /^--birth-date \(birthDate\): the value/);
  await cli.refused(`user update ${id} --profile -`, 2, /--profile: nick is not one of firstName/, {
    stdin: '{"nick":"x"}',
  });
  await cli.refused(`user update ${id}`, 2, /Nothing to change was given/);
});

test('who is not there, or misspelt, is refused', async () => {
  await cli.allRefused([
    ['user show +994509999999', 1, /No account has this phone number/],
    ['user show 0b6f2b1e-8c0a-4f8e-9d6b-5a1c7a1fffff', 1, /No account has this identifier/],
    ['user show aysel', 2, /It takes an identifier, or a phone number such as/],
    ['user create --phone +994500000001', 1, /belongs to another account/],
    ['user create --phone 12', 2, /It takes a phone number/],
  ]);
});

test('an account is shut with its sessions, and opened again', async () => {
  const person = await addPerson(service);
  const client = await register(service);
  const { access_token: token } = await obtainTokens(service, { client, person });
  const off = await cli.json<object>(`user deactivate ${person.phone}`);
  assert.deepEqual(off, { userId: person.id, status: 'inactive', changed: true });
  const userinfo = { url: '/api/v1/openid-connect/userinfo', headers: bearer(token) };
  assert.equal((await service.app.inject(userinfo)).statusCode, 401);
  const on = await cli.json<object>(`user reactivate ${person.phone}`);
  assert.deepEqual(on, { userId: person.id, status: 'active', changed: true });
  assert.deepEqual((await auditOf(db, 'identity', person.id)).slice(0, 2), [
    `${somebody} user.reactivated`,
    `${somebody} user.deactivated`,
  ]);
});

test('a merge needs to be meant, takes the wallet along, and is harmless the second time', async () => {
  const survivor = await addPerson(service);
  const absorbed = await addPerson(service);
  const amount = { minor: 12_50n, currency: 'AZN' };
  const topUp = { userId: absorbed.id, amount, source: 'test', reference: 'merge', actor: 'test' };
  await topUpWallet(service.areas.checkout.deps, topUp);
  const line = `user merge ${absorbed.id} --into ${survivor.phone}`;
  await cli.refused(line, 2, /A merge cannot be undone; add --yes/);
  const first = await cli.json<{ survivorId: string; merged: boolean }>(`${line} --number take --yes`);
  assert.deepEqual([first.survivorId, first.merged], [survivor.id, true]);
  const wallet = await cli.json<object>(`wallet show ${absorbed.phone}`);
  assert.deepEqual(wallet, { userId: survivor.id, wallets: [{ currency: 'AZN', balance: '12.50' }] });
  assert.deepEqual((await show(survivor.id)).oldCustomerIds, [absorbed.id]);
  assert.equal((await show(absorbed.id)).mergedInto, survivor.id);
  assert.deepEqual((await auditOf(db, 'identity', survivor.id))[0], `${somebody} user.merged`);

  const again = `user merge ${absorbed.id} --into ${survivor.id} --yes`;
  assert.equal((await cli.json<{ merged: boolean }>(again)).merged, false);
  await cli.allRefused([
    [`user merge ${survivor.id} --into ${survivor.id} --yes`, 1, /cannot be merged into itself/],
    [`user deactivate ${absorbed.id}`, 1, /was merged into another one/],
  ]);
});

test('sessions are listed and ended, one or all, and their clients are to be told', async () => {
  const person = await addPerson(service);
  const { client_id: told } = await register(service, { backchannelLogoutUri: 'http://127.0.0.1:1/logout' });
  const { client_id: quiet } = await register(service);
  const authTime = new Date();
  const sids = [
    await addSession(db, { userId: person.id, clientIds: [told, quiet], authTime }),
    await addSession(db, { userId: person.id, clientIds: [told], authTime }),
  ];
  const { sessions } = await cli.json<{ sessions: { sid: string; clients: string[] }[] }>(
    `user sessions ${person.phone}`,
  );
  assert.deepEqual(sessions.map((session) => session.sid).sort(), [...sids].sort());
  assert.deepEqual(await cli.json<object>(`user logout ${person.phone} --session ${sids[0]}`), {
    userId: person.id,
    sessionsEnded: 1,
  });
  assert.deepEqual((await sessionState(db, sids[0] ?? '')).liveGrants, []);
  assert.equal((await sessionState(db, sids[1] ?? '')).ended, false);
  assert.equal((await cli.json<{ sessionsEnded: number }>(`user logout ${person.id}`)).sessionsEnded, 1);
  const notices = await queuedNotices(db, sids);
  assert.deepEqual(
    notices.map((notice) => notice.clientId),
    [told, told],
  );
  assert.match(await cli.text(`user sessions ${person.phone} --ended`), /operator.*\n.*operator/);
  assert.equal(await cli.text(`user sessions ${person.phone}`), 'none\n');
  assert.deepEqual((await auditOf(db, 'identity', person.id)).slice(0, 2), [
    `${somebody} user.logged_out`,
    `${somebody} user.logged_out`,
  ]);
  await cli.refused(`user logout ${person.id} --session ${sids[0]}`, 1, /no open session of this identifier/);
});
