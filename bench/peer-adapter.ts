/** A straightforward PostgreSQL store for oidc-provider: one table, one prepared statement for each operation. */
import pg from 'pg';

export const peerTable = `
  create table public.peer_objects (
    model text not null,
    id text not null,
    payload jsonb not null,
    grant_id text,
    uid text,
    expires_at timestamptz,
    consumed_at timestamptz,
    primary key (model, id)
  );
  create index peer_objects_by_grant on public.peer_objects (grant_id) where grant_id is not null;
  create index peer_objects_by_uid on public.peer_objects (uid) where uid is not null`;

type Payload = Record<string, unknown> & { grantId?: string; uid?: string };
type Row = { payload: Payload; expires_at: Date | null; consumed_at: Date | null };

/** With as many connections as our server has. */
export function postgresAdapter(url: string, poolSize: number) {
  const pool = new pg.Pool({ connectionString: url, max: poolSize });

  return class PostgresAdapter {
    readonly model: string;

    constructor(model: string) {
      this.model = model;
    }

    async upsert(id: string, payload: Payload, expiresInSeconds?: number): Promise<void> {
      const expiresAt = expiresInSeconds ? new Date(Date.now() + expiresInSeconds * 1000) : null;
      await pool.query({
        name: 'upsert',
        text: `insert into public.peer_objects (model, id, payload, grant_id, uid, expires_at)
          values ($1, $2, $3, $4, $5, $6) on conflict (model, id) do update set payload = excluded.payload,
          grant_id = excluded.grant_id, uid = excluded.uid, expires_at = excluded.expires_at`,
        values: [
          this.model,
          id,
          JSON.stringify(payload),
          payload.grantId ?? null,
          payload.uid ?? null,
          expiresAt,
        ],
      });
    }

    find(id: string): Promise<Payload | undefined> {
      return this.#findWhere('find', 'id = $2', id);
    }

    findByUid(uid: string): Promise<Payload | undefined> {
      return this.#findWhere('find-by-uid', 'uid = $2', uid);
    }

    async consume(id: string): Promise<void> {
      await this.#run('consume', 'update public.peer_objects set consumed_at = now()', id);
    }

    async destroy(id: string): Promise<void> {
      await this.#run('destroy', 'delete from public.peer_objects', id);
    }

    async revokeByGrantId(grantId: string): Promise<void> {
      await pool.query({
        name: 'revoke',
        text: 'delete from public.peer_objects where grant_id = $1',
        values: [grantId],
      });
    }

    async #findWhere(name: string, condition: string, value: string): Promise<Payload | undefined> {
      const { rows } = await pool.query<Row>({
        name,
        text: `select payload, expires_at, consumed_at from public.peer_objects where model = $1 and ${condition}`,
        values: [this.model, value],
      });
      const [row] = rows;
      if (!row || (row.expires_at && row.expires_at.getTime() < Date.now())) return undefined;
      return row.consumed_at ? { ...row.payload, consumed: true } : row.payload;
    }

    async #run(name: string, statement: string, id: string): Promise<void> {
      await pool.query({ name, text: `${statement} where model = $1 and id = $2`, values: [this.model, id] });
    }
  };
}
