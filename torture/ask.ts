import { type Agent, type IncomingHttpHeaders, request as startRequest } from 'node:http';

export type Question = {
  method: 'GET' | 'POST';
  path: string;
  headers?: Record<string, string>;
  body?: string;
};
export type Answer = { status: number; headers: IncomingHttpHeaders; body: string };
export type Outcome = { ms: number } & (Answer | { failure: string });

/** Far beyond what is promised: whoever is silent for so long will not answer any more. */
const hangMs = 20_000;
/** What the failure is called then. */
export const hang = 'a hang';

/** One request to a process on this machine. It never rejects: a lost connection is an outcome as well. */
export function ask(agent: Agent, port: number, question: Question): Promise<Outcome> {
  const startedAt = performance.now();
  const ms = () => performance.now() - startedAt;
  const { method, path, body } = question;
  const headers = {
    ...question.headers,
    ...(body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }),
  };
  return new Promise((resolve) => {
    const fail = (error: Error) => resolve({ failure: error.message, ms: ms() });
    const request = startRequest({ agent, host: '127.0.0.1', port, method, path, headers }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => (text += chunk));
      response.on('error', fail);
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: text, ms: ms() }),
      );
    });
    const timer = setTimeout(() => request.destroy(new Error(hang)), hangMs);
    request.on('close', () => clearTimeout(timer));
    request.on('error', fail);
    request.end(body);
  });
}
