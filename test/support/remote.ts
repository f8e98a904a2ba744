import type { Config } from '../../src/config.ts';
import type { TestApp } from './app.ts';

/**
 * A server that listens somewhere, in the shape that the visitor and the partner's calls expect: what they would
 * inject goes over HTTP to this address instead, whatever address the server believes to have.
 */
export function remote(url: string, urls: Config['server']['urls']): TestApp {
  const inject = async (given: Injected) => {
    const {
      method = 'GET',
      url: path,
      headers = {},
      payload,
    } = typeof given === 'string' ? { url: given } : given;
    const { host: _, ...sent } = headers;
    const answer = await fetch(new URL(path, url), {
      method,
      headers: sent,
      redirect: 'manual',
      ...(payload === undefined ? {} : { body: payload }),
    });
    const body = await answer.text();
    return {
      statusCode: answer.status,
      headers: { ...Object.fromEntries(answer.headers), 'set-cookie': answer.headers.getSetCookie() },
      body,
      json: () => JSON.parse(body) as unknown,
    };
  };
  // Only what goes through the front door is there; whoever reaches for more fails at once.
  return { app: { inject }, config: { server: { urls } } } as unknown as TestApp;
}

type Injected = string | { method?: string; url: string; headers?: Record<string, string>; payload?: string };

export function urlsOf(base: string): Config['server']['urls'] {
  return { base, sso: `${base}/sso`, checkout: `${base}/checkout` };
}
