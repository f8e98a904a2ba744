import { createServer } from 'node:net';

/**
 * Each process has a hundred ports of its own, below those that the system hands out by itself: nobody else takes one
 * before whoever asked for it has come to listen there.
 */
const first = 11_000 + (process.pid % 210) * 100;
let taken = 0;

/** A loopback port that nobody listens on. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = first + (taken++ % 100);
    if (await isFree(port)) return port;
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) =>
      error.code === 'EADDRINUSE' ? resolve(false) : reject(error),
    );
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
