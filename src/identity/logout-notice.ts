import type { UserId } from './domain/user.ts';

/** The pause grows with every attempt, up to six hours: twelve attempts span the better part of a day. */
export const backchannelLogout = { name: 'identity.backchannel-logout', maxAttempts: 12 } as const;

/** What the queue keeps. The token is made at each attempt, because it lives two minutes at most. */
export type LogoutNotice = { userId: UserId; sid: string; clientId: string; deliveryId: string };
