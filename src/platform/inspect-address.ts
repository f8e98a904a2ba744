export type AddressCondition =
  | { reached: true; status: number; body: string }
  | { reached: false; reason: string };

const mostBytes = 256 * 1024;

/** Asks one of our own public addresses, as anybody outside would. It is the operator's setting, so no guard is needed. */
export async function askAddress(url: string, timeoutMs: number): Promise<AddressCondition> {
  try {
    const answer = await fetch(url, { redirect: 'manual', signal: AbortSignal.timeout(timeoutMs) });
    const length = Number(answer.headers.get('content-length') ?? 0);
    const body = length > mostBytes ? '' : (await answer.text()).slice(0, mostBytes);
    return { reached: true, status: answer.status, body };
  } catch (error) {
    return { reached: false, reason: reasonOf(error) };
  }
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown error';
  if (error.name === 'TimeoutError') return 'no answer in time';
  const cause = error.cause as { code?: string; message?: string } | undefined;
  return cause?.code || cause?.message || error.message;
}
