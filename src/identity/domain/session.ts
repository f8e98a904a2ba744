export const idleMs = 30 * 60_000;
export const longestMs = 10 * 3600_000;
/** Activity is written down at most this often. */
export const seenEveryMs = 60_000;

/** What tokens say of the login they come from. */
export type Login = { phone: string; authTime: Date; acr: string; amr: string[] };
