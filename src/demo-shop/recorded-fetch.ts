/** One call to the service and what came back, to be shown to whoever is learning from it. */
export type Exchange = { request: string; answer: string };

const secretNames = /^(client_secret|code_verifier)$/;

/** `fetch` that writes down what it sends and gets. Secrets of the shop are struck out: a page shows the rest. */
export async function recordedFetch(
  record: (exchange: Exchange) => void,
  url: string,
  init: RequestInit = {},
): Promise<Response> {
  const response = await fetch(url, { signal: AbortSignal.timeout(10_000), redirect: 'manual', ...init });
  const headers = [...new Headers(init.headers)].map(
    ([name, value]) => `${name}: ${shownHeader(name, value)}`,
  );
  const body = init.body === undefined || init.body === null ? '' : `\n\n${shownBody(String(init.body))}`;
  record({
    request: `${init.method ?? 'GET'} ${url}\n${headers.join('\n')}${body}`,
    answer: `${response.status} ${response.statusText}\n\n${shownBody(await response.clone().text())}`,
  });
  return response;
}

function shownHeader(name: string, value: string): string {
  if (name !== 'authorization') return value;
  return value.startsWith('Basic ') ? 'Basic •••' : value;
}

function shownBody(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), null, 2);
  } catch {
    if (!/^[\w.~%+*-]+=/.test(body)) return body;
    const fields = [...new URLSearchParams(body)];
    return fields.map(([name, value]) => `${name}=${secretNames.test(name) ? '•••' : value}`).join('\n');
  }
}
