import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Merchant } from './merchant.ts';

export type Received = { type: string; at: string; id: string; body: string };

const mark = 'demo shop';
const mostKept = 200;
const toleranceSeconds = 5 * 60;

/** Hears of payments and refunds as any shop would: a signed call for each event (Standard Webhooks). */
export function createWebhookReceiver(merchant: Merchant, baseUrl: string) {
  const url = `${baseUrl}/demo/webhooks`;
  const received = new Map<string, Received[]>();
  let secret: string | undefined;
  let registering: Promise<void> | undefined;

  async function register(): Promise<void> {
    type Endpoint = { id: string; description: string | null };
    const { items } = await merchant.call<{ items: Endpoint[] }>('GET', '/v1/webhook-endpoints');
    for (const { id, description } of items) {
      if (description === mark) await merchant.call('DELETE', `/v1/webhook-endpoints/${id}`);
    }
    const made = await merchant.call<{ secret: string }>('POST', '/v1/webhook-endpoints', {
      body: { url, events: ['*'], description: mark },
    });
    secret = made.secret;
  }

  return {
    /** Asks to be told, once in the life of this process; what was asked for before it is replaced. */
    async ready(): Promise<void> {
      registering ??= register();
      await registering.catch((error: unknown) => {
        registering = undefined;
        throw error;
      });
    },

    /** True when the call is from the service, and not an old one sent again. */
    take(headers: Record<string, string | string[] | undefined>, body: string): boolean {
      const { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures } = headers;
      if (!secret || typeof id !== 'string' || typeof timestamp !== 'string') return false;
      if (Math.abs(Date.now() / 1000 - Number(timestamp)) > toleranceSeconds) return false;
      const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
      const ours = Buffer.from(
        `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`,
      );
      const isSigned = String(signatures)
        .split(' ')
        .map((signature) => Buffer.from(signature))
        .some((theirs) => theirs.length === ours.length && timingSafeEqual(theirs, ours));
      if (!isSigned) return false;
      remember(id, body);
      return true;
    },

    about: (paymentId: string): Received[] => received.get(paymentId) ?? [],
  };

  function remember(id: string, body: string): void {
    const event = JSON.parse(body) as {
      type: string;
      timestamp: string;
      data: { object: { id: string; paymentId?: string } };
    };
    const about = event.data.object.paymentId ?? event.data.object.id;
    const before = received.get(about) ?? [];
    // The same event may come twice; it counts once.
    if (before.some((one) => one.id === id)) return;
    received.set(about, [...before, { id, type: event.type, at: event.timestamp, body }]);
    const [oldest] = received.keys();
    if (oldest !== undefined && received.size > mostKept) received.delete(oldest);
  }
}
