import { type Queryable, sql } from '../../platform/db.ts';
import type { UserId } from '../domain/user.ts';

export type DeliveryOutcome = 'delivered' | 'failed' | 'refused';

export async function findDeliveryProgress(
  db: Queryable,
  { userId, deliveryId }: { userId: UserId; deliveryId: string },
): Promise<{ attempts: number; delivered: boolean }> {
  return db.one(sql`
    select coalesce(max(attempt), 0) as attempts, coalesce(bool_or(outcome = 'delivered'), false) as delivered
    from identity.logout_deliveries where user_id = ${userId} and delivery_id = ${deliveryId}`);
}

export async function insertDeliveryAttempt(
  db: Queryable,
  attempt: {
    userId: UserId;
    deliveryId: string;
    clientId: string;
    sid: string;
    attempt: number;
    at: Date;
    status: number | null;
    outcome: DeliveryOutcome;
    detail: string | null;
  },
): Promise<void> {
  await db.run(sql`
    insert into identity.logout_deliveries (user_id, delivery_id, client_id, sid, attempt, at, status, outcome, detail)
    values (${attempt.userId}, ${attempt.deliveryId}, ${attempt.clientId}, ${attempt.sid}, ${attempt.attempt},
      ${attempt.at}, ${attempt.status}, ${attempt.outcome}, ${attempt.detail})
    on conflict do nothing`);
}
