import { randomBytes } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { createCookies } from '../platform/cookies.ts';
import type { Exchange } from './recorded-fetch.ts';

/** A sign-in that is under way. A real shop keeps these in its session, as this one does. */
export type SignIn = { state: string; nonce: string; verifier: string };
export type Tokens = { idToken: string; accessToken: string; refreshToken: string };
export type Step = Exchange & { title: string; about: string };
export type Order = { paymentId: string; product: string; amount: string };

export type Visitor = {
  id: string;
  signIn: SignIn | null;
  tokens: Tokens | null;
  /** Kept to be used a second time on purpose. */
  usedCallback: { url: string; signIn: SignIn } | null;
  usedRefreshToken: string | null;
  steps: Step[];
  orders: Order[];
  experiment: Step | null;
};

const mostVisitors = 1_000;
const mostKept = 20;

/** Adds to what is kept of a visitor; the oldest goes when there is too much. */
export function remember<Kept>(kept: Kept[], one: Kept): void {
  kept.push(one);
  if (kept.length > mostKept) kept.shift();
}

/** Who is visiting the demo, in this process's memory: it is a demo, and forgets when it ends. */
export function createVisitors(baseUrl: string) {
  const cookies = createCookies<'demo'>(baseUrl);
  const known = new Map<string, Visitor>();

  return {
    of(request: FastifyRequest, reply: FastifyReply): Visitor {
      const visitor = known.get(cookies.read(request, 'demo') ?? '');
      if (visitor) return visitor;
      const fresh: Visitor = {
        id: randomBytes(16).toString('base64url'),
        signIn: null,
        tokens: null,
        usedCallback: null,
        usedRefreshToken: null,
        steps: [],
        orders: [],
        experiment: null,
      };
      const [oldest] = known.keys();
      if (oldest !== undefined && known.size >= mostVisitors) known.delete(oldest);
      known.set(fresh.id, fresh);
      cookies.set(reply, 'demo', fresh.id);
      return fresh;
    },
  };
}
