/** Names and counts. Never a secret, never a document number: of a changed field only its name. */
export type AuditDetails = Record<string, string | number | boolean | readonly string[]>;

/** An entry as operators read it, whichever area wrote it. */
export type AuditRow = {
  auditId: bigint;
  at: Date;
  actor: string;
  action: string;
  /** Whom or what it was done to. */
  object: string;
  details: Record<string, unknown>;
};

/** Which entries to read: the newest that fit. */
export type AuditFilter = {
  actor: string | null;
  action: string | null;
  object: string | null;
  since: Date | null;
  limit: number;
};
