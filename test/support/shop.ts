import { createServer } from 'node:http';
import { listen } from './listen.ts';

export type Shop = {
  origin: string;
  /** Where its customers come back to. */
  returnUrl: string;
  /** Every address at which a customer came back, newest last. */
  arrivals: URL[];
};

/** A shop on a port of its own, to which customers come back from the payment page. */
export async function startShop(host = '127.0.0.1'): Promise<Shop> {
  const arrivals: URL[] = [];
  const server = createServer((request, response) => {
    arrivals.push(new URL(request.url ?? '/', 'http://shop'));
    response
      .writeHead(200, { 'content-type': 'text/html; charset=utf-8' })
      .end('<!doctype html><html lang="en"><title>Shop</title><link rel="icon" href="data:,"><h1>Shop</h1>');
  });
  const origin = `http://${host}:${await listen(server)}`;
  return { origin, returnUrl: `${origin}/thanks?basket=7`, arrivals };
}
