import { type Queryable, sql } from '../../platform/db.ts';
import type { ConversionSlot } from '../domain/sms-conversion.ts';

export async function findConversionSlots(
  db: Queryable,
  prefix: string,
  since: Date,
): Promise<ConversionSlot[]> {
  return db.many<ConversionSlot>(sql`
    select slot, sent, verified from identity.sms_conversion where prefix = ${prefix} and slot > ${since}`);
}

export async function countSent(db: Queryable, prefix: string, slot: Date): Promise<void> {
  await db.run(sql`
    insert into identity.sms_conversion as c (prefix, slot, sent) values (${prefix}, ${slot}, 1)
    on conflict (prefix, slot) do update set sent = c.sent + 1`);
}

/** A gateway that is down must not look like fraud. */
export async function uncountSent(db: Queryable, prefix: string, slot: Date): Promise<void> {
  await db.run(sql`
    update identity.sms_conversion set sent = sent - 1 where prefix = ${prefix} and slot = ${slot} and sent > 0`);
}
