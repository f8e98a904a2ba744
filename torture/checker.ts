import { setTimeout as delay } from 'node:timers/promises';
import { verifyLedger } from '../src/checkout/verify-ledger.ts';
import { cards, demoMerchant } from '../test/support/merchant.ts';
import { demo } from '../test/support/partner.ts';
import { withClient } from './database.ts';
import { type Acknowledged, mayFollow, type Told } from './journal.ts';
import { finish, post, readObject } from './merchant-load.ts';
import { assertEnded, assertNotRefreshed } from './person-load.ts';
import type { Random } from './random.ts';
import type { World } from './world.ts';

/** Beyond a lease of ten seconds and the jobs' own rhythm, on a machine that is busy with other things. */
const patienceMs = 60_000;
/** After each round, beside all that the round has acknowledged. At the end it is all there is. */
const olderRepeated = 50;
/** Among so many, each kind comes up many times over. */
const enoughCalls = 200;

/** How far the journal was looked through by the rounds before. */
export type Checked = { acknowledged: number; ended: number; repeated: number };

/**
 * Everything that must hold after each round, whatever was done to the service: what it has acknowledged is there, once
 * and unchanged; the books are right; what has ended stays ended; and no secret stands in what it wrote.
 */
export async function checkAll(world: World, random: Random, checked: Checked): Promise<void> {
  const { journal } = world.driver;
  await finishWhatCanBe(world);
  await checkBooks(world, patienceMs);
  await checkObjects(world);
  await checkIdentityRows(world);
  const fresh = journal.acknowledged.slice(checked.acknowledged);
  const sample = [
    ...fresh,
    ...sampleOf(journal.acknowledged.slice(0, checked.acknowledged), olderRepeated, random),
  ];
  await checkRepeats(world, sample, checked);
  const ended = journal.ended.slice(checked.ended);
  await tenAtOnce(ended, async ({ accessToken, refreshToken }) => {
    for (const node of world.nodes.serving) {
      await assertEnded(world.driver, node, accessToken);
      await assertNotRefreshed(world.driver, node, refreshToken);
    }
  });
  checkOutput(world, ended);
  checked.acknowledged = journal.acknowledged.length;
  checked.ended = journal.ended.length;
}

/** The end of a campaign: everything is answered, settled and delivered, and nothing was made that nobody asked for. */
export async function checkEnd(world: World, random: Random, checked: Checked): Promise<void> {
  const { driver, receiver } = world;
  await settle(world);
  for (const id of (await eventsMissing(world)).slice(0, 10)) driver.breach('lost', `event ${id}`);
  for (const text of receiver.outOfOrder.slice(0, 10)) driver.breach('invariant', `webhook: ${text}`);
  checked.acknowledged = 0;
  checked.ended = 0;
  await checkAll(world, random, checked);
  await checkBooks(world, 0);
  await checkBank(world);
  await checkExactly(world);
  await checkLoad(world);
}

/** Waits until every call is answered, the jobs have found out what nobody knew, and the merchant was told. */
export async function settle(world: World): Promise<void> {
  const { unfinished } = world.driver.journal;
  await waitFor(world, 'every call is answered', async () => {
    await finishWhatCanBe(world);
    return unfinished.size === 0;
  });
  await waitFor(world, 'nothing is left open', async () => (await countOpen(world)) === 0);
  await waitFor(world, 'every event has arrived', async () => (await eventsMissing(world)).length === 0);
}

async function waitFor(world: World, what: string, holds: () => Promise<boolean>): Promise<void> {
  for (const giveUpAt = performance.now() + patienceMs; performance.now() < giveUpAt; await delay(200))
    if (await holds()) return;
  world.driver.breach('invariant', `waited in vain until ${what}`);
}

/** What the round has cut off is asked for again; what a killed process still holds is left to a later round. */
async function finishWhatCanBe({ driver }: World): Promise<void> {
  const unfinished = [...driver.journal.unfinished.values()];
  await Promise.all(unfinished.map((sent) => finish(driver, sent)));
}

async function checkBooks({ database, driver }: World, stuckAfterMs: number): Promise<void> {
  const found = await verifyLedger({ url: database.url(), now: new Date(), stuckAfterMs });
  for (const { invariant, object, expected, found: is } of found)
    driver.breach('invariant', `${invariant}: ${object}: expected ${expected}, found ${is}`);
}

/** I4 and I7: each object that was told of is there, no older than it was told, and what was final still is. */
async function checkObjects({ database, driver }: World): Promise<void> {
  const { rows } = await withClient(database.url(), (client) =>
    client.query<{ id: string; status: string; version: number; amount: string }>(
      `select payment_id as id, status, version, (amount / 100.0)::numeric(20, 2)::text as amount from checkout.payments
       union all select refund_id, status, version, (amount / 100.0)::numeric(20, 2)::text from checkout.refunds`,
    ),
  );
  const there = new Map(rows.map((row) => [row.id, row]));
  for (const told of driver.journal.told.values()) {
    const row = there.get(told.id);
    if (!row) driver.breach('lost', `${told.id}, told as ${told.status}`);
    else if (!mayFollow(told, row))
      driver.breach(
        'lost',
        `${told.id}: told ${told.status} ${told.version}, is ${row.status} ${row.version}`,
      );
    else if (row.amount !== told.amount.value)
      driver.breach('lost', `${told.id}: told of ${told.amount.value}, is ${row.amount}`);
  }
}

/** I8 and I9: one family of tokens for a code, and none alive under a session that has ended. */
async function checkIdentityRows({ database, driver }: World): Promise<void> {
  const { rows } = await withClient(database.url(), (client) =>
    client.query<{ breach: string }>(
      `select 'a live grant under an ended session: ' || g.grant_id as breach
       from identity.grants g join identity.sessions s using (user_id, sid)
       where s.ended_at is not null and g.revoked_at is null
       union all
       select 'two codes for one grant: ' || grant_id from identity.authorization_codes
       where grant_id is not null group by grant_id having count(*) > 1`,
    ),
  );
  for (const { breach } of rows) driver.breach('invariant', breach);
}

/** I5: the same key again is the same answer, byte for byte; and the object is served as it was told, or later. */
async function checkRepeats({ driver }: World, sample: Acknowledged[], checked: Checked): Promise<void> {
  await tenAtOnce(sample, async (acknowledged) => {
    const again = await patiently(() => post(driver, acknowledged));
    checked.repeated++;
    const { path, key, answer } = acknowledged;
    if (again?.body !== answer)
      driver.breach('doubled', `${path} ${key}: first ${answer}, then ${again?.body}`);
    if (acknowledged.status !== 200) return;
    const { id } = JSON.parse(answer) as Told;
    await patiently(() => readObject(driver, `${path === '/v1/refunds' ? path : '/v1/payments'}/${id}`));
  });
}

async function tenAtOnce<Item>(items: Item[], work: (item: Item) => Promise<void>): Promise<void> {
  for (let at = 0; at < items.length; at += 10) await Promise.all(items.slice(at, at + 10).map(work));
}

/** A busy machine may say "not now", and is asked again. */
async function patiently<Found>(ask: () => Promise<Found | undefined>): Promise<Found | undefined> {
  for (let tries = 0; tries < 20; tries++) {
    const found = await ask();
    if (found) return found;
    await delay(250);
  }
  return undefined;
}

/** I10: a card, a secret, a one-time code and the tokens of this round, looked for in what the processes have written. */
function checkOutput({ nodes, driver }: World, ended: { accessToken: string; refreshToken: string }[]): void {
  const numbers = Object.values(cards).flatMap((number) => [number, number.replaceAll(' ', '')]);
  const secrets = [...numbers, demoMerchant.clientSecret, demo.clientSecret];
  const tokens = ended.flatMap(({ accessToken, refreshToken }) => [accessToken, refreshToken]);
  const code = new RegExp(`(?<![\\w.-])${demo.code}(?![\\w.-])`);
  for (const node of [...nodes.serving, nodes.jobs]) {
    const text = node.newLog();
    const found = [...secrets, ...tokens].some((secret) => text.includes(secret)) || code.test(text);
    if (found) driver.breach('invariant', `a secret stands in the output of ${node.name}`);
  }
}

/** I11: nothing waits to be asked about. */
async function countOpen({ database }: World): Promise<number> {
  const { rows } = await withClient(database.url(), (client) =>
    client.query<{ open: number }>(
      `select (select count(*) from checkout.attempts where settled_at is null or reversal = 'due')::int
         + (select count(*) from checkout.refunds where status = 'pending')::int
         + (select count(*) from checkout.payments where capture_lease_until is not null)::int as open`,
    ),
  );
  return rows[0]?.open ?? 0;
}

/** I6: what happened and has not arrived at the merchant. */
async function eventsMissing({ database, receiver }: World): Promise<string[]> {
  const { rows } = await withClient(database.url(), (client) =>
    client.query<{ id: string }>('select event_id as id from checkout.events'),
  );
  return rows.map(({ id }) => id).filter((id) => !receiver.arrived.has(id));
}

/** With nothing left open, the bank has charged cards for exactly what we say, and no card twice for one payment. */
async function checkBank({ database, driver }: World): Promise<void> {
  const { rows } = await withClient(database.url(), (client) =>
    client.query<{ breach: string }>(
      `with ours as (
         select merchant_id, payment_id, paid_attempt_id::text as reference, captured, refunded from checkout.payments
         where status in ('waiting_for_capture', 'succeeded') and wallet_user_id is null
       ), banks as (
         select merchant_id, reference, captured, refunded from checkout.sandbox_authorizations
         where status = 'approved' and not reversed
       )
       select concat_ws(' ', 'payment', payment_id, 'captured', ours.captured, 'refunded', ours.refunded,
         'and at the bank', reference, 'captured', banks.captured, 'refunded', banks.refunded) as breach
       from ours full join banks using (merchant_id, reference)
       where (ours.captured, ours.refunded) is distinct from (banks.captured, banks.refunded)`,
    ),
  );
  for (const { breach } of rows.slice(0, 10)) driver.breach('doubled', breach);
}

/** A kind of call that never came through has proven nothing. */
async function checkLoad({ database, driver }: World): Promise<void> {
  const { acknowledged, ended } = driver.journal;
  if (acknowledged.length < enoughCalls) return;
  for (const kind of ['/payments', '/capture', '/cancel', '/refunds'])
    if (!acknowledged.some(({ path, status }) => status === 200 && path.endsWith(kind)))
      driver.breach('answer', `no call of ${kind} was ever taken`);
  if (ended.length === 0) driver.breach('answer', 'no session was ever ended');
  const { rowCount } = await withClient(database.url(), (client) =>
    client.query('select from checkout.payments where wallet_user_id is not null'),
  );
  if (!rowCount) driver.breach('answer', 'nothing was ever paid from a wallet');
}

/** With every call answered, there are as many objects as were acknowledged: not one fewer, and not one more. */
async function checkExactly({ database, driver }: World): Promise<void> {
  const { rows } = await withClient(database.url(), (client) =>
    client.query<{ id: string }>(
      'select payment_id as id from checkout.payments union all select refund_id from checkout.refunds',
    ),
  );
  for (const { id } of rows)
    if (!driver.journal.told.has(id)) driver.breach('doubled', `${id} was made, and never acknowledged`);
}

function sampleOf<Item>(items: Item[], most: number, random: Random): Item[] {
  return items.length <= most ? items : Array.from({ length: most }, () => random.pick(items));
}
