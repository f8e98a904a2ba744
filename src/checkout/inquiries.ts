/** Longer than an inquiry and the call that follows it take: who has not come back by then is gone. */
export const leaseMs = 10_000;

/** A merchant is answered within five seconds: after an inquiry that took longer, the job sends what has to be sent. */
export const quickInquiryMs = 1_000;

const firstMs = 1_000;
const longestMs = 3600_000;

/** A second after the first time nobody knew, then twice as long each time, up to an hour. */
export function nextInquiryAt(now: Date, inquiries: number): Date {
  return new Date(now.getTime() + Math.min(firstMs * 2 ** Math.min(inquiries, 20), longestMs));
}

/**
 * Nobody knows yet: when the job asks, and how often it has asked by then. Whoever asks besides, before the job was to
 * do so at `dueAt`, leaves both as they are: a merchant who asks every second would use up its patience in a minute.
 */
export function postponed(
  now: Date,
  inquiries: number,
  dueAt: Date | null = null,
): { until: Date; inquiries: number } {
  return dueAt
    ? { until: dueAt, inquiries }
    : { until: nextInquiryAt(now, inquiries), inquiries: inquiries + 1 };
}
