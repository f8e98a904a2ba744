/** Whose endpoint it is: a merchant is told of payments and refunds, a partner of people and sessions. */
export type Owner = { kind: 'merchant' | 'partner'; id: string };

/** The name under which everything of an owner is kept. */
export function ownerKey(owner: Owner): string {
  return `${owner.kind}:${owner.id}`;
}

export function ownerOf(key: string): Owner {
  const [, kind, id] = /^(merchant|partner):(.+)$/.exec(key) ?? [];
  if (!kind || !id) throw new Error(`${key} names no owner of webhooks`);
  return { kind: kind as Owner['kind'], id };
}
