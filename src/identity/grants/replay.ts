import type { IdentityDeps } from '../deps.ts';
import type { UserId } from '../domain/user.ts';
import { writeAudit } from '../store/audit.ts';
import { revokeGrant } from '../store/grants.ts';

/** Something that works once came twice: it may be in the hands of a thief, so whatever came from it dies. */
export async function revokeReplayed(
  deps: IdentityDeps,
  replay: {
    userId: string;
    grantId: string;
    clientId: string;
    reason: 'code_reused' | 'refresh_token_reused';
  },
): Promise<void> {
  const now = deps.now();
  const revoked = await deps.db.transaction(async (tx) => {
    if (!(await revokeGrant(tx, { ...replay, now }))) return false;
    await writeAudit(tx, {
      userId: replay.userId as UserId,
      at: now,
      actor: `client ${replay.clientId}`,
      action: 'tokens.revoked',
      details: { reason: replay.reason },
    });
    return true;
  });
  if (revoked) {
    const { clientId, userId, reason } = replay;
    deps.log.warn(
      { clientId, userId, reason },
      'something that works once came twice; its tokens were revoked',
    );
  }
}
