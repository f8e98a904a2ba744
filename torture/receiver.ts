import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Scope, undoLater } from '../test/support/server.ts';

type Event = { id: string; sequence: number; data: { object: { id: string } } };

export type EventReceiver = {
  url: string;
  /** The events that have arrived, however often each. */
  arrived: Set<string>;
  /** Arrivals beyond the first of each: they are allowed, and counted. */
  repeated: number;
  /** Those that came before one that happened earlier to the same object. */
  outOfOrder: string[];
};

/** The merchant's own server for webhooks; it takes everything at once. */
export async function startEventReceiver(scope: Scope): Promise<EventReceiver> {
  const newest = new Map<string, number>();
  const receiver: EventReceiver = { url: '', arrived: new Set(), repeated: 0, outOfOrder: [] };
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    const { id, sequence, data } = JSON.parse(body) as Event;
    const known = newest.get(data.object.id) ?? 0;
    if (receiver.arrived.has(id)) receiver.repeated++;
    else if (sequence !== known + 1)
      receiver.outOfOrder.push(`event ${sequence} of ${data.object.id} after ${known}`);
    receiver.arrived.add(id);
    newest.set(data.object.id, Math.max(known, sequence));
    response.writeHead(200).end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  undoLater(scope, async () => {
    server.closeAllConnections();
    server.close();
  });
  receiver.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks`;
  return receiver;
}
