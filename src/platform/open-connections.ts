import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Knows what is open, for the two moments when Node does not: a stop, and a refusal behind pipelined requests. */
export function watchConnections(server: Server, requestTimeoutMs: number) {
  const open = new Map<Socket, Set<ServerResponse>>();
  const waiting = new WeakSet<Socket>();
  server.on('connection', (socket) => {
    open.set(socket, new Set());
    socket.once('close', () => open.delete(socket));
  });
  server.prependListener('request', ({ socket }, response) => {
    const answers = open.get(socket);
    answers?.add(response);
    response.once('close', () => answers?.delete(response));
  });
  return {
    /**
     * Begins a stop. From now on Node no longer enforces the time limits of requests, and a connection on which
     * nothing was ever sent does not count as idle: either would hold the process up until it is killed.
     */
    letGo() {
      for (const socket of open.keys()) if (socket.bytesRead === 0) socket.destroy();
      const limit = setTimeout(() => server.closeAllConnections(), requestTimeoutMs).unref();
      server.once('close', () => clearTimeout(limit));
    },
    /** A second status line in the middle of another answer would be taken for a part of it. */
    afterAnswers(socket: Socket, write: () => void) {
      const answers = [...(open.get(socket) ?? [])];
      // The answer to a request that has not arrived whole is the one that `write` replaces, if it can.
      const last = answers.filter(({ req }) => req.complete).at(-1);
      if (answers.some(({ req, headersSent }) => !req.complete && headersSent)) {
        socket.destroy();
      } else if (!last) {
        write();
      } else if (!waiting.has(socket)) {
        waiting.add(socket);
        last.once('close', write);
      }
    },
  };
}
