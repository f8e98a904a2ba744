import type { TestApp } from '../test/support/app.ts';
import { urlsOf } from '../test/support/remote.ts';
import type { Answer, Question } from './ask.ts';
import type { Driver } from './driver.ts';

export class NoAnswer extends Error {}

export function onlyNoAnswer(error: unknown): undefined {
  if (!(error instanceof NoAnswer)) throw error;
}

/** Every step of it was answered, and yet it did not come to its end. */
export function isUnfinishedLogin(error: unknown): boolean {
  return error instanceof Error && /^no (form|redirect|tokens|code)/.test(error.message);
}

/** The service in the shape that the calls of the tests expect; what is not answered breaks the story off. */
export function frontDoor(driver: Driver, baseUrl: string): TestApp {
  const inject = async (given: Question & { url: string; payload?: string }) => {
    const { host: _, ...headers } = given.headers ?? {};
    const answer = await driver.send({
      method: given.method ?? 'GET',
      path: given.url,
      headers,
      ...(given.payload === undefined ? {} : { body: given.payload }),
    });
    if (!answer) throw new NoAnswer('not answered');
    return injected(answer);
  };
  return { app: { inject }, config: { server: { urls: urlsOf(baseUrl) } } } as unknown as TestApp;
}

function injected({ status, headers, body }: Answer) {
  return { statusCode: status, headers, body, json: () => JSON.parse(body) as unknown };
}
