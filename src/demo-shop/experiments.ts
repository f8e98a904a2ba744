import { randomUUID } from 'node:crypto';
import type { Merchant } from './merchant.ts';
import type { PartnerOptions } from './partner.ts';
import { type Exchange, recordedFetch } from './recorded-fetch.ts';
import type { Visitor } from './visitors.ts';

export type Experiment = {
  name: string;
  title: string;
  about: string;
  /** What has to be done before it can be tried. */
  needs: (visitor: Visitor) => string | null;
  run: (visitor: Visitor, record: (exchange: Exchange) => void) => Promise<void>;
};

/** Things that go wrong on purpose, to see what the service says. */
export function createExperiments({
  partner,
  merchant,
}: {
  partner: PartnerOptions;
  merchant: Merchant;
}): Experiment[] {
  const tokenEndpoint = `${partner.baseUrl}/api/v2/openid-connect/token`;
  const askForTokens = (record: (exchange: Exchange) => void, fields: Record<string, string>) =>
    recordedFetch(record, tokenEndpoint, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({
        client_id: partner.clientId,
        client_secret: partner.clientSecret,
        ...fields,
      }).toString(),
    });
  const signedInBefore = (visitor: Visitor) => (visitor.usedCallback ? null : 'Sign in first.');

  return [
    {
      name: 'wrong-state',
      title: 'Come back with another state',
      about:
        'Somebody lures the browser to our callback with a code of their own. The shop must not take it.',
      needs: () => null,
      async run(_, record) {
        const forged = new URL(`${partner.baseUrl}/demo/callback?code=somebody-elses&state=not-ours`);
        const response = await fetch(forged, { redirect: 'manual', signal: AbortSignal.timeout(10_000) });
        record({
          request: `GET ${forged.href}`,
          answer: `${response.status} ${response.statusText}\n\nThe shop: this browser has begun no such sign-in. No token was asked for.`,
        });
      },
    },
    {
      name: 'reused-code',
      title: 'Use a code twice',
      about:
        'The second use is refused, and what the first one brought is revoked: one of the two was a thief.',
      needs: signedInBefore,
      async run(visitor, record) {
        if (!visitor.usedCallback) return;
        const { url, signIn } = visitor.usedCallback;
        await askForTokens(record, {
          grant_type: 'authorization_code',
          code: new URL(url).searchParams.get('code') ?? '',
          redirect_uri: `${partner.baseUrl}/demo/callback`,
          code_verifier: signIn.verifier,
        });
      },
    },
    {
      name: 'replayed-refresh-token',
      title: 'Use an old refresh token',
      about:
        'A retry within seconds gets the same successor; later it means that somebody has a copy, and the family is revoked.',
      needs: (visitor) => (visitor.usedRefreshToken ? null : 'Renew the tokens on the account page first.'),
      async run(visitor, record) {
        if (!visitor.usedRefreshToken) return;
        await askForTokens(record, { grant_type: 'refresh_token', refresh_token: visitor.usedRefreshToken });
      },
    },
    {
      name: 'same-key',
      title: 'Send a payment twice',
      about: 'The network broke and the shop sends it again with the same key: one payment, the same answer.',
      needs: () => null,
      async run(_, record) {
        const key = randomUUID();
        const body = merchant.order({ name: 'One coffee', price: '3.50' });
        const first = await merchant.call<{ id: string }>('POST', '/v1/payments', { body, key });
        await merchant.call('POST', '/v1/payments', {
          body,
          key,
          record: ({ request, answer }) =>
            record({ request, answer: `${answer}\n\nThe first answer had the id ${first.id} too.` }),
        });
      },
    },
    {
      name: 'reused-key',
      title: 'Use a key for something else',
      about: 'The same key with another amount is a bug in the shop, and nothing is done.',
      needs: () => null,
      async run(_, record) {
        const key = randomUUID();
        await merchant.createPayment({ name: 'One coffee', price: '3.50' }, key);
        const body = merchant.order({ name: 'Two coffees', price: '7.00' });
        await refusedOnPurpose(merchant.call('POST', '/v1/payments', { body, key, record }));
      },
    },
    {
      name: 'too-much-back',
      title: 'Refund more than was paid',
      about: 'The answer says how much is left.',
      needs: (visitor) => (visitor.orders.length > 0 ? null : 'Buy something first.'),
      async run(visitor, record) {
        const order = visitor.orders.at(-1);
        if (order) await refusedOnPurpose(merchant.refund(order.paymentId, '9999.00', record));
      },
    },
  ];
}

async function refusedOnPurpose(work: Promise<unknown>): Promise<void> {
  await work.catch((error: unknown) => {
    if (!(error instanceof Error) || !('answer' in error)) throw error;
  });
}
