const freshForMs = 1_000;
const mostKept = 10_000;

/** For what changes rarely and is needed by every call: each is read at most once a second. */
export function readOnceASecond<Found>(read: (id: string) => Promise<Found>): (id: string) => Promise<Found> {
  const known = new Map<string, { found: Promise<Found>; readAt: number }>();
  return (id) => {
    const now = performance.now();
    const entry = known.get(id);
    if (entry && now - entry.readAt < freshForMs) return entry.found;
    const found = read(id);
    // Made-up names must not fill the memory; emptying it costs a read for each, no more.
    if (known.size >= mostKept) known.clear();
    known.set(id, { found, readAt: now });
    found.catch(() => {
      // One that was slow to fail must not take a newer one along.
      if (known.get(id)?.found === found) known.delete(id);
    });
    return found;
  };
}
