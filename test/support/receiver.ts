import { createServer, type ServerResponse } from 'node:http';
import { deliver, takeDue } from '../../src/webhooks/deliver.ts';
import type { WebhookDeps } from '../../src/webhooks/deps.ts';
import type { Claim } from '../../src/webhooks/store/queue.ts';
import type { TestApp } from './app.ts';
import { listen } from './listen.ts';
import { call } from './merchant.ts';

export type Received = {
  path: string;
  headers: Record<string, string>;
  body: string;
  event: EventBody;
};

export type EventBody = {
  id: string;
  type: string;
  timestamp: string;
  sequence: number;
  data: { object: { id: string; status: string; version: number }; previousStatus: string | null };
};

export type Answering = (received: Received, response: ServerResponse) => unknown;

export type Receiver = {
  url: string;
  received: Received[];
  /** How it answers; 200 until it is told otherwise. */
  answer: Answering;
  /** The most requests that were open at once. */
  mostAtOnce: number;
  /** Breaks off whatever is still unanswered. */
  hangUp(): void;
};

/** A merchant's or partner's web server: it keeps what it was sent, and answers as it is told. */
export async function startReceiver(): Promise<Receiver> {
  let open = 0;
  const server = createServer(async (request, response) => {
    open++;
    receiver.mostAtOnce = Math.max(receiver.mostAtOnce, open);
    response.on('close', () => open--);
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks).toString();
    const received: Received = {
      path: request.url ?? '',
      headers: request.headers as Record<string, string>,
      body,
      event: JSON.parse(body) as EventBody,
    };
    receiver.received.push(received);
    await receiver.answer(received, response);
  });
  const receiver: Receiver = {
    url: `http://127.0.0.1:${await listen(server)}/hooks`,
    received: [],
    answer: answering(200),
    mostAtOnce: 0,
    hangUp: () => server.closeAllConnections(),
  };
  return receiver;
}

export function answering(status: number, headers: Record<string, string> = {}, body = ''): Answering {
  return (_received, response) => response.writeHead(status, headers).end(body);
}

export type EndpointAnswer = {
  id: string;
  url: string;
  secret: string;
  events: string[];
  status: string;
  disabledReason: string | null;
  disabledAt: string | null;
  failingSince: string | null;
  previousSecretExpiresAt: string | null;
};

export async function addEndpoint(
  service: TestApp,
  body: { url: string; events?: string[] },
  authorization?: string,
): Promise<EndpointAnswer> {
  const options = { body, ...(authorization ? { authorization } : {}) };
  const answer = await call(service, 'POST', '/v1/webhook-endpoints', options);
  if (answer.statusCode !== 201) throw new Error(`no endpoint but ${answer.statusCode}: ${answer.body}`);
  return answer.json<EndpointAnswer>();
}

/** Delivers until nothing is due any more at the instant that the clock shows. */
export async function deliverAllDue(deps: WebhookDeps): Promise<void> {
  for (let claims: Claim[] = []; ; ) {
    claims = await takeDue(deps, 100);
    if (claims.length === 0) return;
    await Promise.all(claims.map((claim) => deliver(deps, claim)));
  }
}
