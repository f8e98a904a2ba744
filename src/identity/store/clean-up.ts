import { type Queryable, sql, type Transaction } from '../../platform/db.ts';

/** Each deletes at most `limit` rows and tells how many. Rows that somebody holds are left for the next time. */
export type DeleteBatch = (db: Queryable, before: Date, limit: number) => Promise<number>;

export const deleteAuthorizationCodes: DeleteBatch = (db, before, limit) =>
  db.run(sql`
    delete from identity.authorization_codes where ctid = any (array(
      select ctid from identity.authorization_codes where expires_at < ${before}
      order by expires_at limit ${limit} for update skip locked))`);

export const deleteGrants: DeleteBatch = (db, before, limit) =>
  db.run(sql`
    delete from identity.grants where ctid = any (array(
      select ctid from identity.grants where expires_at < ${before}
      order by expires_at limit ${limit} for update skip locked))`);

/** A session goes together with its clients' parts. */
export const deleteSessions: DeleteBatch = async (db, before, limit) => {
  const { sessions } = await db.one<{ sessions: number }>(sql`
    with gone as (
      delete from identity.sessions where ctid = any (array(
        select ctid from identity.sessions where ended_at < ${before}
        order by ended_at limit ${limit} for update skip locked))
      returning user_id, sid
    ), parts as (
      delete from identity.client_sessions c using gone where c.user_id = gone.user_id and c.sid = gone.sid
    )
    select count(*)::int as sessions from gone`);
  return sessions;
};

export const deleteBudgets: DeleteBatch = (db, before, limit) =>
  db.run(sql`
    delete from identity.budgets where ctid = any (array(
      select ctid from identity.budgets where expires_at < ${before}
      order by expires_at limit ${limit} for update skip locked))`);

export const deleteSmsConversion: DeleteBatch = (db, before, limit) =>
  db.run(sql`
    delete from identity.sms_conversion where ctid = any (array(
      select ctid from identity.sms_conversion where slot < ${before} limit ${limit} for update skip locked))`);

/** Rows of a day that had no partition when they came: no partition will ever take them along. */
export const deleteStrayOneTimeCodes: DeleteBatch = (db, before, limit) =>
  db.run(sql`
    delete from identity.one_time_codes_other where ctid = any (array(
      select ctid from identity.one_time_codes_other where created_at < ${before}
      limit ${limit} for update skip locked))`);

export const deleteStrayLogoutDeliveries: DeleteBatch = (db, before, limit) =>
  db.run(sql`
    delete from identity.logout_deliveries_other where ctid = any (array(
      select ctid from identity.logout_deliveries_other where at < ${before}
      limit ${limit} for update skip locked))`);

export const deleteStrayEvents: DeleteBatch = (db, before, limit) =>
  db.run(sql`
    delete from identity.events_other where ctid = any (array(
      select ctid from identity.events_other where created_at < ${before}
      limit ${limit} for update skip locked))`);

/** Two nodes that make the same partition at the same moment would make each other fail. */
export async function lockPartitions(tx: Transaction): Promise<void> {
  await tx.run(sql`select pg_advisory_xact_lock(hashtext('identity.keep_partitions'))`);
}

export async function keepPartitions(
  tx: Transaction,
  parent: 'one_time_codes' | 'logout_deliveries' | 'events',
  { today, daysKept }: { today: Date; daysKept: number },
): Promise<void> {
  const day = today.toISOString().slice(0, 10);
  await tx.run(sql`select identity.keep_partitions(${parent}, ${day}::date, ${daysKept}::int)`);
}

export type DueBefore = {
  authorizationCodes: Date;
  grants: Date;
  sessions: Date;
  budgets: Date;
  smsConversion: Date;
  strayOneTimeCodes: Date;
  strayLogoutDeliveries: Date;
  strayEvents: Date;
};

/** How many rows wait to be deleted, counted up to `most`: beyond it the number no longer matters, but its cost would. */
export async function countDue(
  db: Queryable,
  before: DueBefore,
  most: number,
): Promise<Record<keyof DueBefore, number>> {
  return db.one(sql`
    select
      (select count(*)::int from (select from identity.authorization_codes
        where expires_at < ${before.authorizationCodes} limit ${most}) due) as authorization_codes,
      (select count(*)::int from (select from identity.grants
        where expires_at < ${before.grants} limit ${most}) due) as grants,
      (select count(*)::int from (select from identity.sessions
        where ended_at < ${before.sessions} limit ${most}) due) as sessions,
      (select count(*)::int from (select from identity.budgets
        where expires_at < ${before.budgets} limit ${most}) due) as budgets,
      (select count(*)::int from (select from identity.sms_conversion
        where slot < ${before.smsConversion} limit ${most}) due) as sms_conversion,
      (select count(*)::int from (select from identity.one_time_codes_other
        where created_at < ${before.strayOneTimeCodes} limit ${most}) due) as stray_one_time_codes,
      (select count(*)::int from (select from identity.logout_deliveries_other
        where at < ${before.strayLogoutDeliveries} limit ${most}) due) as stray_logout_deliveries,
      (select count(*)::int from (select from identity.events_other
        where created_at < ${before.strayEvents} limit ${most}) due) as stray_events`);
}
