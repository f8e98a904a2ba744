/** People whom no request has used yet; more of them are loaded, outside of the measured time, when they run out. */
import type pg from 'pg';
import { loadCodes, loadPeople } from './load-rows.ts';

export type Supply = {
  take(): number | undefined;
  refill(): Promise<void>;
};

/** As long ago as a partner's last refresh usually is: each new one then also writes down that the person was seen. */
const seenSecondsAgo = 300;

/** Several supplies on one database share the numbers of people, and none is handed out twice. */
export function createSupplies(client: pg.Client, firstFree: number, atOnce: number) {
  let loaded = firstFree;
  return (what: 'codes' | 'refresh tokens'): Supply => {
    let [next, end] = [0, 0];
    return {
      take: () => (next < end ? next++ : undefined),
      async refill() {
        if (next < end) return;
        [next, end] = [loaded, loaded + atOnce];
        loaded = end;
        await loadPeople(client, { from: next, to: end, seenSecondsAgo });
        if (what === 'codes') await loadCodes(client, next, end);
      },
    };
  };
}
