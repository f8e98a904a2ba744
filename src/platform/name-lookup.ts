import { promises as dns, type ResolverOptions } from 'node:dns';

/** Names that mean this machine and that no DNS server is asked about (RFC 6761, section 6.3). */
const thisMachine = /^(?:.+\.)?localhost\.?$/i;

/** What a resolver says of a name that does not exist, or has no address; EINVAL and EBADNAME of one that is too long. */
export const noSuchName: ReadonlySet<string> = new Set(['ENOTFOUND', 'ENODATA', 'EINVAL', 'EBADNAME']);

/** Given up for good after two questions of two and four seconds, if the deadline of the call does not come first. */
const patience: ResolverOptions = { timeout: 2_000, tries: 2 };

/**
 * For names that merchants and partners choose. The system's own lookup occupies one of four threads that the whole
 * process shares, and cannot be stopped: a handful of names whose servers never answer would hold up every other call.
 * This one costs a socket and is stopped at the deadline.
 */
export async function lookUpByDns(
  name: string,
  deadline?: AbortSignal,
  servers?: readonly string[],
): Promise<readonly string[]> {
  if (thisMachine.test(name)) return ['127.0.0.1', '::1'];
  // One for each name, because stopping a resolver stops everything it was asked.
  const resolver = new dns.Resolver(patience);
  if (servers) resolver.setServers(servers);
  const stop = () => resolver.cancel();
  deadline?.addEventListener('abort', stop, { once: true });
  try {
    const answers = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
    const found = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
    if (found.length > 0) return found;
    // Only if neither question failed in another way is it certain that there is nothing.
    const failures = answers.flatMap((answer) => (answer.status === 'rejected' ? [answer.reason] : []));
    throw failures.find((failure) => !noSuchName.has(failure.code)) ?? failures[0];
  } finally {
    deadline?.removeEventListener('abort', stop);
  }
}

/** For names that the operator has chosen: it knows the hosts file and whatever else the machine was told. */
export async function lookUpBySystem(name: string): Promise<readonly string[]> {
  const found = await dns.lookup(name, { all: true });
  return found.map(({ address }) => address);
}

/** For a local environment: a name that only the hosts file of the developer knows is good as well. */
export async function lookUpLocally(name: string, deadline?: AbortSignal): Promise<readonly string[]> {
  try {
    return await lookUpByDns(name, deadline);
  } catch (error) {
    if (!noSuchName.has((error as NodeJS.ErrnoException).code ?? '')) throw error;
    return lookUpBySystem(name);
  }
}
