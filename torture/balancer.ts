import { once } from 'node:events';
import { createServer, request as startRequest } from 'node:http';
import { type Scope, undoLater } from '../test/support/server.ts';
import type { Nodes } from './nodes.ts';

/** What stands at the public address, for the service itself: it signs people in to their wallets by way of it. */
export async function startBalancer(scope: Scope, port: number, nodes: Nodes): Promise<void> {
  const server = createServer((asked, answer) => {
    const node = nodes.next();
    if (!node) {
      answer.destroy();
      return;
    }
    const { method, url, headers } = asked;
    const passedOn = startRequest(
      { agent: node.agent, host: '127.0.0.1', port: node.port, method, path: url, headers },
      (given) => {
        answer.writeHead(given.statusCode ?? 502, given.headers);
        given.on('error', () => answer.destroy()).pipe(answer);
      },
    );
    passedOn.on('error', () => answer.destroy());
    asked.pipe(passedOn);
  }).listen(port, 'localhost');
  await once(server, 'listening');
  undoLater(scope, async () => {
    server.closeAllConnections();
    server.close();
  });
}
