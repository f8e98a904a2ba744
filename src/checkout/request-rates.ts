export type RequestRates = {
  /** 0 when the request may pass, else how many seconds to wait. */
  take(merchantId: string, perSecond: number): number;
};

/**
 * How often each merchant calls. A bucket of one second's requests fills at the agreed rate; each process keeps its
 * own, so several nodes together let through as many times the rate.
 */
export function createRequestRates(): RequestRates {
  const buckets = new Map<string, { left: number; at: number }>();
  return {
    take(merchantId, perSecond) {
      const at = performance.now();
      const bucket = buckets.get(merchantId) ?? { left: perSecond, at };
      const left = Math.min(perSecond, bucket.left + ((at - bucket.at) / 1000) * perSecond);
      const passes = left >= 1;
      buckets.set(merchantId, { left: passes ? left - 1 : left, at });
      return passes ? 0 : Math.max(1, Math.ceil((1 - left) / perSecond));
    },
  };
}
