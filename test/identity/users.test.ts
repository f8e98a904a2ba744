import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import {
  type Account,
  decideMerge,
  emptyProfile,
  type Profile,
  type UserId,
  type UserRefusalCode,
} from '../../src/identity/domain/user.ts';
import { writeAudit } from '../../src/identity/store/audit.ts';
import { findOldUserIds, findUser } from '../../src/identity/store/users.ts';
import {
  changePhone,
  createUser,
  deactivateUser,
  findOrCreateUserByPhone,
  type Merge,
  mergeUsers,
  reactivateUser,
  UserRefused,
  updateProfile,
} from '../../src/identity/users.ts';
import { sql } from '../../src/platform/db.ts';
import { deriveKey } from '../../src/platform/seal.ts';
import { testDatabase, untilSomebodyWaits } from '../support/database.ts';
import { addClient, addSession, queuedNotices, sessionState } from '../support/sessions.ts';

const { db } = await testDatabase();

let time = Date.UTC(2026, 0, 10, 12);
const now = () => new Date(time);
const later = (ms: number) => {
  time += ms;
};
const documentsKey = deriveKey('test secret', 'documents');
const newUserId = () => randomUUID() as UserId;
const deps = { db, now, newUserId, documentsKey, onMerged: async () => {} };
const actor = 'operator';
const unknownId = newUserId();

let numbers = 0;
const newPhone = () => `+99450${String(++numbers).padStart(7, '0')}`;
const newUser = (phone = newPhone(), profile: Partial<Profile> = {}) =>
  createUser(deps, { phone, profile, actor });
const userOf = async (id: UserId) => {
  const user = await findUser(db, documentsKey, id);
  assert.ok(user);
  return user;
};
const phoneOf = async (id: UserId) => {
  const user = await userOf(id);
  return user.status === 'merged' ? null : user.phone;
};
const ownerOf = async (phone: string) =>
  (await db.maybeOne<{ userId: UserId }>(sql`select user_id from identity.phones where phone = ${phone}`))
    ?.userId;
const merge = (survivorId: UserId, absorbedId: UserId, phone: Merge['phone'] = 'free') =>
  mergeUsers(deps, { survivorId, absorbedId, phone, actor });
const login = (phone: string) => db.transaction((tx) => findOrCreateUserByPhone(tx, deps, phone));
const auditOf = (id: UserId) =>
  db.many<{ actor: string; action: string; details: Record<string, unknown> }>(sql`
    select actor, action, details from identity.audit where user_id = ${id} order by audit_id`);

async function refusedWith(code: UserRefusalCode, work: Promise<unknown>): Promise<void> {
  await assert.rejects(work, (error: unknown) => {
    assert.ok(error instanceof UserRefused, String(error));
    assert.equal(error.code, code);
    assert.match(error.message, /\.$/);
    return true;
  });
}

const fullProfile: Profile = {
  firstName: 'Aygün',
  lastName: 'Məmmədova',
  patronymic: 'Rəşid',
  pin: '5XYZ123',
  idCardNumber: 'AA0123456',
  profilePicture: 'https://pictures.example/aygun.png',
  birthDate: '1990-04-21',
  resident: true,
  verificationStatus: 3,
  gender: 2,
};

test('a new user is found again with every field', async () => {
  const phone = newPhone();
  const id = await newUser(phone, fullProfile);
  assert.deepEqual(await userOf(id), {
    id,
    status: 'active',
    phone,
    profile: fullProfile,
    createdAt: now(),
    updatedAt: now(),
  });
  const bare = await newUser();
  assert.deepEqual((await userOf(bare)).profile, emptyProfile);
});

test('an unknown id finds nobody', async () => {
  assert.equal(await findUser(db, documentsKey, unknownId), undefined);
});

test('a user is not made with a number that is taken or is none, nor with an id that exists', async () => {
  const phone = newPhone();
  const id = await newUser(phone);
  await refusedWith('phone_taken', newUser(phone));
  for (const bad of ['', '0501234567', '+0501234567', '+994 50 123 45 67', '+12345', '+1234567890123456']) {
    await refusedWith('phone_invalid', newUser(bad));
  }
  const other = newPhone();
  await refusedWith('user_exists', createUser(deps, { phone: other, id, actor }));
  assert.equal(await ownerOf(other), undefined);
});

test('document numbers are ciphertext in the table, different each time, and open only in their own place', async () => {
  const [one, two] = [await newUser(newPhone(), fullProfile), await newUser(newPhone(), fullProfile)];
  const rows = await db.many<{ pinSealed: Buffer; idCardNumberSealed: Buffer; text: string }>(sql`
    select pin_sealed, id_card_number_sealed, u::text as text from identity.users u where user_id in (${one}, ${two})`);
  assert.equal(rows.length, 2);
  for (const { pinSealed, idCardNumberSealed, text } of rows) {
    assert.equal(pinSealed.includes(fullProfile.pin ?? ''), false);
    assert.equal(idCardNumberSealed.includes(fullProfile.idCardNumber ?? ''), false);
    assert.doesNotMatch(text, /5XYZ123|AA0123456/);
  }
  assert.equal(rows[0]?.pinSealed.equals(rows[1]?.pinSealed ?? Buffer.alloc(0)), false);

  await assert.rejects(
    findUser(db, deriveKey('another secret', 'documents'), one),
    /not sealed with this key/,
  );
  await db.run(sql`
    update identity.users set pin_sealed = (select pin_sealed from identity.users where user_id = ${one})
    where user_id = ${two}`);
  await assert.rejects(findUser(db, documentsKey, two), new RegExp(`pin of user ${two}`));
  await db.run(sql`
    update identity.users set id_card_number_sealed = pin_sealed, pin_sealed = null where user_id = ${one}`);
  await assert.rejects(findUser(db, documentsKey, one), new RegExp(`idCardNumber of user ${one}`));
});

test('a profile changes only where asked, and the audit names the fields and never the values', async () => {
  const id = await newUser(newPhone(), fullProfile);
  later(1_000);
  const changed = await updateProfile(deps, {
    userId: id,
    actor,
    changes: { pin: '7ABC987', gender: 9, firstName: 'Aygün', resident: null },
  });
  assert.deepEqual(new Set(changed), new Set(['pin', 'resident', 'gender']));
  const user = await userOf(id);
  assert.deepEqual(user.profile, { ...fullProfile, pin: '7ABC987', gender: 9, resident: null });
  assert.deepEqual(user.updatedAt, now());
  assert.notDeepEqual(user.createdAt, now());

  assert.deepEqual(await updateProfile(deps, { userId: id, actor, changes: { gender: 9 } }), []);
  const entries = await auditOf(id);
  assert.deepEqual(
    entries.map((entry) => [entry.action, entry.actor]),
    [
      ['user.created', actor],
      ['user.profile_updated', actor],
    ],
  );
  assert.deepEqual(entries[1]?.details, { fields: ['pin', 'resident', 'gender'] });
  assert.doesNotMatch(JSON.stringify(entries), /5XYZ123|AA0123456|7ABC987|Aygün/);
});

test('a profile that cannot be is refused with the names of its fields', async () => {
  const userId = await newUser();
  const faulty: Partial<Profile>[] = [
    { firstName: 'x'.repeat(101) },
    { lastName: ' ' },
    { birthDate: '2023-02-29' },
    { birthDate: '21.04.1990' },
    { profilePicture: 'javascript:alert(1)' },
    { verificationStatus: 5 as 4 },
    { gender: 3 as 2 },
    { gender: null as unknown as 0 },
    { pin: '' },
  ];
  for (const changes of faulty) {
    const work = updateProfile(deps, { userId, actor, changes });
    await refusedWith('profile_invalid', work);
    await assert.rejects(work, new RegExp(Object.keys(changes).join()));
  }
  await updateProfile(deps, {
    userId,
    actor,
    changes: { firstName: 'x'.repeat(100), birthDate: '2024-02-29' },
  });
  assert.equal((await userOf(userId)).profile.birthDate, '2024-02-29');
  await refusedWith('user_not_found', updateProfile(deps, { userId: unknownId, actor, changes: {} }));
});

test('twenty logins of a new number at once make one user', async () => {
  const phone = newPhone();
  const answers = await Promise.all(Array.from({ length: 20 }, () => login(phone)));
  assert.equal(new Set(answers.map((answer) => answer.account.id)).size, 1);
  assert.equal(answers.filter((answer) => answer.created).length, 1);
  const { users } = await db.one<{ users: number }>(
    sql`select count(*)::int as users from identity.users where phone = ${phone}`,
  );
  assert.equal(users, 1);
  const [first] = answers;
  assert.ok(first);
  assert.deepEqual(await auditOf(first.account.id), [
    { actor: 'login', action: 'user.created', details: { fields: [] } },
  ]);
  assert.equal((await userOf(first.account.id)).profile.verificationStatus, 1);
});

test('a login of a known number finds its account, also one that is not active', async () => {
  const phone = newPhone();
  const id = await newUser(phone);
  assert.deepEqual(await login(phone), { account: { id, status: 'active', phone }, created: false });
  await deactivateUser(deps, { userId: id, actor });
  assert.deepEqual(await login(phone), { account: { id, status: 'inactive', phone }, created: false });
});

test('a login and the change of its number at the same time end with one owner of each number', async () => {
  for (let round = 0; round < 10; round++) {
    const [oldPhone, phone] = [newPhone(), newPhone()];
    const userId = await newUser(oldPhone);
    const [, ...logins] = await Promise.all([
      changePhone(deps, { userId, phone, actor }).catch(() => false),
      login(oldPhone),
      login(phone),
      login(oldPhone),
    ]);
    for (const { account } of logins) assert.notEqual(account.status, 'merged');
    const { wrong } = await db.one<{ wrong: number }>(sql`
      select count(*)::int as wrong from identity.users u full join identity.phones p
        on p.user_id = u.user_id and p.phone = u.phone
      where (u.phone in (${oldPhone}, ${phone}) or p.phone in (${oldPhone}, ${phone}))
        and (u.user_id is null or p.user_id is null)`);
    assert.equal(wrong, 0);
  }
});

test('deactivation ends the sessions with their grants and queues the logouts, once', async () => {
  const userId = await newUser();
  const otherId = await newUser();
  const told = await addClient(db, { backchannelLogoutUri: 'https://partner.example/logout' });
  const silent = await addClient(db);
  const sids = [
    await addSession(db, { userId, clientIds: [told, silent], authTime: now() }),
    await addSession(db, { userId, clientIds: [told], authTime: now() }),
  ];
  const foreign = await addSession(db, { userId: otherId, clientIds: [told], authTime: now() });

  assert.equal(await deactivateUser(deps, { userId, actor }), true);
  assert.equal((await userOf(userId)).status, 'inactive');
  for (const sid of sids) {
    assert.deepEqual(await sessionState(db, sid), {
      ended: true,
      reason: 'deactivated',
      liveClients: [],
      liveGrants: [],
    });
  }
  const notices = await queuedNotices(db, [...sids, foreign]);
  assert.deepEqual(
    notices.map(({ sid, clientId }) => [sid, clientId]).sort(),
    sids.map((sid) => [sid, told]).sort(),
  );
  assert.deepEqual(new Set(notices.map((notice) => notice.userId)), new Set([userId]));
  assert.equal(new Set(notices.map((notice) => notice.deliveryId)).size, 2);
  assert.equal((await sessionState(db, foreign)).ended, false);

  assert.equal(await deactivateUser(deps, { userId, actor }), false);
  assert.equal((await queuedNotices(db, sids)).length, 2);
  assert.equal(await reactivateUser(deps, { userId, actor }), true);
  assert.equal(await reactivateUser(deps, { userId, actor }), false);
  assert.equal((await userOf(userId)).status, 'active');
  assert.deepEqual(
    (await auditOf(userId)).map(({ action, details }) => [action, details]),
    [
      ['user.created', { fields: [] }],
      ['user.deactivated', { sessionsEnded: 2 }],
      ['user.reactivated', {}],
    ],
  );
  for (const operation of [deactivateUser, reactivateUser]) {
    await refusedWith('user_not_found', operation(deps, { userId: unknownId, actor }));
  }
});

test('a deactivation waits for the login under way and ends its session too', async () => {
  const phone = newPhone();
  const userId = await newUser(phone);
  let deactivated: Promise<boolean> | undefined;
  const sid = await db.transaction(async (tx) => {
    await findOrCreateUserByPhone(tx, deps, phone);
    deactivated = deactivateUser(deps, { userId, actor });
    await untilSomebodyWaits(db);
    const made = randomUUID();
    await tx.run(sql`
      insert into identity.sessions
        (user_id, sid, cookie_hash, phone, auth_time, acr, amr, last_seen_at, expires_at)
      values (${userId}, ${made}, ${Buffer.alloc(32)}, ${phone}, ${now()}, '', '{}', ${now()}, ${now()})`);
    return made;
  });
  assert.equal(await deactivated, true);
  assert.equal((await sessionState(db, sid)).reason, 'deactivated');
});

test('a changed number frees the old one, logs in with the new one and ends all sessions', async () => {
  const [oldPhone, phone, taken] = [newPhone(), newPhone(), newPhone()];
  const userId = await newUser(oldPhone);
  await newUser(taken);
  const client = await addClient(db, { backchannelLogoutUri: 'https://partner.example/logout' });
  const sid = await addSession(db, { userId, clientIds: [client], authTime: now() });

  await refusedWith('phone_taken', changePhone(deps, { userId, phone: taken, actor }));
  await refusedWith('phone_invalid', changePhone(deps, { userId, phone: '12', actor }));
  await refusedWith('user_not_found', changePhone(deps, { userId: unknownId, phone, actor }));
  assert.equal(await changePhone(deps, { userId, phone: oldPhone, actor }), false);
  assert.equal((await sessionState(db, sid)).ended, false);

  assert.equal(await changePhone(deps, { userId, phone, actor }), true);
  assert.equal(await phoneOf(userId), phone);
  assert.deepEqual(await sessionState(db, sid), {
    ended: true,
    reason: 'phone_changed',
    liveClients: [],
    liveGrants: [],
  });
  assert.equal((await queuedNotices(db, [sid])).length, 1);
  assert.equal((await login(phone)).account.id, userId);
  const next = await login(oldPhone);
  assert.equal(next.created, true);
  assert.notEqual(next.account.id, userId);
  const entries = await auditOf(userId);
  assert.deepEqual(entries.at(-1)?.details, { fields: ['phone'], sessionsEnded: 1 });
  assert.equal(entries.length, 2);
});

test('of two accounts that want one free number at once, one gets it', async () => {
  const phone = newPhone();
  const ids = [await newUser(), await newUser(), await newUser()];
  const results = await Promise.allSettled(ids.map((userId) => changePhone(deps, { userId, phone, actor })));
  assert.equal(results.filter((result) => result.status === 'fulfilled').length, 1);
  const owners = await Promise.all(ids.map(phoneOf));
  assert.equal(owners.filter((owned) => owned === phone).length, 1);
  assert.equal(await ownerOf(phone), ids[owners.indexOf(phone)]);
});

test('a merge shuts the absorbed account, frees its number and leaves the survivor as it was', async () => {
  const [phoneA, phoneB] = [newPhone(), newPhone()];
  const [a, b] = [await newUser(phoneA, fullProfile), await newUser(phoneB)];
  const client = await addClient(db, { backchannelLogoutUri: 'https://partner.example/logout' });
  const sidA = await addSession(db, { userId: a, clientIds: [client], authTime: now() });
  const sidB = await addSession(db, { userId: b, clientIds: [client], authTime: now() });

  assert.deepEqual(await merge(a, b), { survivorId: a, merged: true });
  const { status, profile } = await userOf(a);
  assert.deepEqual([status, profile], ['active', fullProfile]);
  const absorbed = await userOf(b);
  assert.equal(absorbed.status, 'merged');
  assert.equal(absorbed.status === 'merged' && absorbed.mergedInto, a);
  assert.deepEqual(await findOldUserIds(db, a), [b]);
  assert.deepEqual(await findOldUserIds(db, b), []);
  assert.deepEqual(await sessionState(db, sidB), {
    ended: true,
    reason: 'merged',
    liveClients: [],
    liveGrants: [],
  });
  assert.equal((await sessionState(db, sidA)).ended, false);
  // The partner knows the session under the identifier it was made with.
  assert.deepEqual(
    (await queuedNotices(db, [sidA, sidB])).map(({ userId, sid }) => [userId, sid]),
    [[b, sidB]],
  );

  assert.deepEqual([await ownerOf(phoneA), await ownerOf(phoneB)], [a, undefined]);
  const stranger = await login(phoneB);
  assert.equal(stranger.created, true);
  assert.deepEqual((await auditOf(a)).at(-1), {
    actor,
    action: 'user.merged',
    details: { absorbedId: b, phone: 'free', sessionsEnded: 1 },
  });
});

test("a merge that takes the number over frees the survivor's own and ends the survivor's sessions too", async () => {
  const [phoneA, phoneB] = [newPhone(), newPhone()];
  const [a, b] = [await newUser(phoneA), await newUser(phoneB)];
  const sidA = await addSession(db, { userId: a, authTime: now() });
  await merge(a, b, 'take');
  assert.equal(await phoneOf(a), phoneB);
  assert.deepEqual([await ownerOf(phoneA), await ownerOf(phoneB)], [undefined, a]);
  assert.equal((await login(phoneB)).account.id, a);
  assert.equal((await login(phoneA)).created, true);
  assert.equal((await sessionState(db, sidA)).reason, 'phone_changed');
});

test('old identifiers follow chains of merges, oldest first, each once', async () => {
  const [a, b, c, d, e] = [
    await newUser(),
    await newUser(),
    await newUser(),
    await newUser(),
    await newUser(),
  ];
  for (const [survivor, absorbed] of [
    [b, c],
    [a, d],
    [b, e],
    [a, b],
  ] as const) {
    later(1_000);
    await merge(survivor, absorbed);
  }
  assert.deepEqual(await findOldUserIds(db, a), [c, d, e, b]);
  for (const old of [b, c, d, e]) {
    const user = await userOf(old);
    assert.equal(user.status === 'merged' && user.mergedInto, a);
    assert.deepEqual(await findOldUserIds(db, old), []);
  }
});

test('merges of one instant keep the order in which they were made', async () => {
  const [root, middle] = [await newUser(), await newUser()];
  const old: UserId[] = [];
  for (let i = 0; i < 5; i++) {
    const id = await newUser();
    old.push(id);
    await merge(middle, id);
  }
  await merge(root, middle);
  assert.deepEqual(await findOldUserIds(db, root), [...old, middle]);
});

test('merging twice is harmless, also after the survivor itself was merged', async () => {
  const [a, b, c] = [await newUser(), await newUser(), await newUser()];
  let calls = 0;
  const counting = { ...deps, onMerged: async () => void calls++ };
  const again = (survivorId: UserId, absorbedId: UserId) =>
    mergeUsers(counting, { survivorId, absorbedId, phone: 'take', actor });
  await again(b, c);
  const phoneB = await phoneOf(b);
  assert.deepEqual(await again(b, c), { survivorId: b, merged: false });
  assert.equal(await phoneOf(b), phoneB);
  assert.equal(calls, 1);
  await again(a, b);
  assert.deepEqual(await again(b, c), { survivorId: a, merged: false });
  assert.deepEqual(await again(a, c), { survivorId: a, merged: false });
  assert.equal(calls, 2);
  assert.deepEqual(await findOldUserIds(db, a), [c, b]);
  const merges = (await auditOf(a)).filter((entry) => entry.action === 'user.merged');
  assert.equal(merges.length, 1);
});

test('self-merges, cycles, merged survivors and unknown accounts are refused', async () => {
  const [a, b, c, d] = [await newUser(), await newUser(), await newUser(), await newUser()];
  await merge(b, c);
  await merge(a, b);
  await refusedWith('self_merge', merge(a, a));
  await refusedWith('merge_cycle', merge(b, a));
  await refusedWith('merge_cycle', merge(c, a));
  await refusedWith('survivor_merged', merge(b, d));
  await refusedWith('merged_elsewhere', merge(d, c));
  await refusedWith('user_not_found', merge(a, unknownId));
  await refusedWith('user_not_found', merge(unknownId, a));
  assert.deepEqual(await findOldUserIds(db, a), [c, b]);
  assert.equal((await userOf(d)).status, 'active');
});

test('a merged account can be neither changed nor opened again', async () => {
  const [a, b] = [await newUser(), await newUser()];
  await merge(a, b);
  const named = { userId: b, actor };
  await refusedWith('user_merged', updateProfile(deps, { ...named, changes: { firstName: 'X' } }));
  await refusedWith('user_merged', reactivateUser(deps, named));
  await refusedWith('user_merged', deactivateUser(deps, named));
  await refusedWith('user_merged', changePhone(deps, { ...named, phone: newPhone() }));
});

test('a merge and its opposite at the same time: one wins, the other is refused as a cycle', async () => {
  for (let round = 0; round < 10; round++) {
    const [a, b] = [await newUser(), await newUser()];
    const results = await Promise.allSettled([merge(a, b), merge(b, a)]);
    const refused = results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []));
    assert.equal(refused.length, 1);
    assert.ok(refused[0] instanceof UserRefused, String(refused[0]));
    assert.equal(refused[0].code, 'merge_cycle');
    const [survivor, absorbed] = results[0]?.status === 'fulfilled' ? [a, b] : [b, a];
    assert.deepEqual(await findOldUserIds(db, survivor), [absorbed]);
    assert.deepEqual(await findOldUserIds(db, absorbed), []);
  }
});

test('the same merge ten times at once happens once', async () => {
  const [a, b] = [await newUser(), await newUser()];
  let calls = 0;
  const counting = { ...deps, onMerged: async () => void calls++ };
  const results = await Promise.all(
    Array.from({ length: 10 }, () =>
      mergeUsers(counting, { survivorId: a, absorbedId: b, phone: 'free', actor }),
    ),
  );
  assert.equal(results.filter((result) => result.merged).length, 1);
  assert.equal(calls, 1);
  assert.deepEqual(await findOldUserIds(db, a), [b]);
});

test('whatever merges meet, everybody ends in one account that is alive and knows each of them once', async () => {
  const everybody = await Promise.all(Array.from({ length: 6 }, () => newUser()));
  const pairs = everybody.flatMap((survivorId) =>
    everybody.flatMap((absorbedId) => (survivorId === absorbedId ? [] : [{ survivorId, absorbedId }])),
  );
  const results = await Promise.allSettled(
    pairs.map((pair) => mergeUsers(deps, { ...pair, phone: 'take', actor })),
  );
  for (const result of results) {
    if (result.status === 'rejected') assert.ok(result.reason instanceof UserRefused, String(result.reason));
  }
  const users = await Promise.all(everybody.map(userOf));
  const alive = users.filter((user) => user.status !== 'merged');
  assert.ok(alive.length >= 1);
  const known: UserId[] = [];
  for (const { id } of alive) known.push(id, ...(await findOldUserIds(db, id)));
  assert.deepEqual(known.sort(), [...everybody].sort());
  for (const user of users) {
    if (user.status === 'merged') assert.ok(alive.some(({ id }) => id === user.mergedInto));
  }
});

test('when the hook fails nothing has happened', async () => {
  const [phoneA, phoneB] = [newPhone(), newPhone()];
  const [a, b, c] = [await newUser(phoneA), await newUser(phoneB), await newUser()];
  await merge(b, c);
  const client = await addClient(db, { backchannelLogoutUri: 'https://partner.example/logout' });
  const sid = await addSession(db, { userId: b, clientIds: [client], authTime: now() });
  const failing = {
    ...deps,
    onMerged: async () => {
      throw new Error('the wallet is on hold');
    },
  };
  await assert.rejects(
    mergeUsers(failing, { survivorId: a, absorbedId: b, phone: 'take', actor }),
    /the wallet is on hold/,
  );
  assert.equal((await userOf(b)).status, 'active');
  assert.deepEqual([await phoneOf(a), await phoneOf(b)], [phoneA, phoneB]);
  assert.deepEqual([await ownerOf(phoneA), await ownerOf(phoneB)], [a, b]);
  assert.deepEqual([await findOldUserIds(db, a), await findOldUserIds(db, b)], [[], [c]]);
  assert.equal((await sessionState(db, sid)).ended, false);
  assert.deepEqual(await queuedNotices(db, [sid]), []);
  assert.equal((await auditOf(a)).length, 1);
});

test('the hook runs inside the same transaction and is told both identifiers', async () => {
  const [a, b] = [await newUser(), await newUser()];
  const seen: unknown[] = [];
  await mergeUsers(
    {
      ...deps,
      onMerged: async (tx, merged) => {
        const inside = await tx.one<{ mergedInto: UserId }>(
          sql`select merged_into from identity.users where user_id = ${b}`,
        );
        const outside = await db.one<{ mergedInto: UserId | null }>(
          sql`select merged_into from identity.users where user_id = ${b}`,
        );
        seen.push(merged, inside.mergedInto, outside.mergedInto);
      },
    },
    { survivorId: a, absorbedId: b, phone: 'free', actor },
  );
  assert.deepEqual(seen, [{ survivorId: a, absorbedId: b }, a, null]);
});

test('the database itself refuses a row that cannot be', async () => {
  const [a, b] = [await newUser(), await newUser()];
  const refused = { message: /violates check constraint/ };
  await assert.rejects(db.run(sql`update identity.users set phone = null where user_id = ${a}`), refused);
  await assert.rejects(
    db.run(sql`update identity.users set merged_into = ${b}, phone = null where user_id = ${a}`),
    refused,
  );
  await assert.rejects(
    db.run(
      sql`update identity.users set merged_into = user_id, phone = null, active = false where user_id = ${a}`,
    ),
    refused,
  );
});

test('an audit entry that is about nobody has the identifier of zeros, and none can be changed', async () => {
  await db.transaction((tx) => writeAudit(tx, { at: now(), actor, action: 'test.nobody' }));
  assert.deepEqual(await auditOf('00000000-0000-0000-0000-000000000000' as UserId), [
    { actor, action: 'test.nobody', details: {} },
  ]);
  await assert.rejects(db.run(sql`update identity.audit set actor = 'x'`), /append only/);
  await assert.rejects(db.run(sql`delete from identity.audit`), /append only/);
});

test('the decision about a merge needs nothing but the two accounts', () => {
  const [survivorId, absorbedId, other] = [newUserId(), newUserId(), newUserId()];
  const open = (id: UserId): Account => ({ id, status: 'active', phone: '+994500000000' });
  const merged = (id: UserId, mergedInto: UserId): Account => ({ id, status: 'merged', mergedInto });
  const decide = (...accounts: Account[]) => {
    const decision = decideMerge({ survivorId, absorbedId }, accounts);
    return decision.ok ? decision.step : decision.refusal;
  };
  assert.equal(decide(open(survivorId), open(absorbedId)), 'merge');
  assert.equal(decide({ ...open(survivorId), status: 'inactive' } as Account, open(absorbedId)), 'merge');
  assert.equal(decide(open(survivorId)), 'user_not_found');
  assert.equal(decide(open(absorbedId)), 'user_not_found');
  assert.equal(decide(open(survivorId), merged(absorbedId, survivorId)), 'nothing_left');
  assert.equal(decide(open(survivorId), merged(absorbedId, other)), 'merged_elsewhere');
  assert.equal(decide(merged(survivorId, absorbedId), open(absorbedId)), 'merge_cycle');
  assert.equal(decide(merged(survivorId, other), open(absorbedId)), 'survivor_merged');
  assert.equal(decide(merged(survivorId, other), merged(absorbedId, other)), 'nothing_left');
});
