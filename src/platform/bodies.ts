import type { FastifyInstance } from 'fastify';
import { parseForm } from './form.ts';
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

/** For pages and for OAuth, whose calls are forms. */
export function takeForms(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'string' },
    (_: unknown, body: string, done) => done(null, parseForm(body)),
  );
  app.addHook('preValidation', (request, _, done) => {
    // A POST without any body comes without a parser as well.
    if (request.method === 'POST' && request.body === undefined) request.body = parseForm('');
    done();
  });
}
