import type { FastifyInstance } from 'fastify';
import { JsonRefused, parseJson } from './json.ts';
import { commonRefusals, refuserOf } from './problem.ts';

const refuse = refuserOf(commonRefusals);

/** For calls that take nothing: none, an empty body or `{}` will do, whatever type it is said to have. */
export function takeNoBody(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'string', bodyLimit: 1024 }, async (_: unknown, body: string) => {
    const text = body.trim();
    if (text !== '' && !/^\{\s*\}$/.test(text)) throw refuse('invalid_request', 'This call takes no body.');
    return undefined;
  });
}

/** For calls that need nothing and may be given something: an empty body will do, whatever type it is said to have. */
export function takeOptionalJson(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'string', bodyLimit: 1024 }, async (_: unknown, body: string) => {
    if (body.trim() === '') return undefined;
    try {
      return parseJson(body);
    } catch (error) {
      if (error instanceof JsonRefused) throw refuse('invalid_request', error.message);
      throw error;
    }
  });
}
