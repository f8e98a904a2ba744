import pg from 'pg';

/**
 * The queue keeps a job locked for four hours when the process that ran it is gone. A payment must not wait that
 * long, so each process shows that it lives by an advisory lock, which PostgreSQL drops the moment its connection
 * closes, and whoever finds jobs of an owner without one sets them free.
 */
export type JobOwners = {
  /** Shows that this process lives, under the name by which it locks jobs. */
  announce(owner: string): Promise<void>;
  /** Frees the jobs of processes that are gone; tells how many there were. */
  freeAbandoned(): Promise<number>;
  close(): Promise<void>;
};

/** A job locked more recently may belong to a process that has not yet announced itself. */
const graceSeconds = 20;

export function openJobOwners(url: string, onError: (error: Error) => void): JobOwners {
  const announced = new Set<string>();
  let connection: Promise<pg.Client> | undefined;

  const connect = async () => {
    const client = new pg.Client({
      connectionString: url,
      application_name: 'tollgate job owner',
      keepAlive: true,
    });
    client.on('error', onError);
    client.on('end', () => {
      connection = undefined;
    });
    await client.connect();
    for (const owner of announced) await hold(client, owner);
    return client;
  };
  const connected = () => {
    connection ??= connect().catch((error) => {
      connection = undefined;
      throw error;
    });
    return connection;
  };

  return {
    async announce(owner) {
      announced.add(owner);
      await hold(await connected(), owner);
    },
    async freeAbandoned() {
      const client = await connected();
      const { rows } = await client.query<{ owner: string }>(
        `select distinct locked_by as owner from graphile_worker._private_jobs
         where locked_by is not null and locked_at < now() - $1 * interval '1 second'`,
        [graceSeconds],
      );
      let freed = 0;
      for (const { owner } of rows) {
        if (announced.has(owner) || !(await hold(client, owner))) continue;
        await client.query('select graphile_worker.force_unlock_workers(array[$1::text])', [owner]);
        await client.query('select pg_advisory_unlock(hashtextextended($1, 0))', [owner]);
        freed++;
      }
      return freed;
    },
    async close() {
      const open = await connection?.catch(() => undefined);
      await open?.end();
    },
  };
}

/** True when nobody else holds it. Asking twice for one's own is harmless: the connection's end frees both. */
async function hold(client: pg.Client, owner: string): Promise<boolean> {
  const { rows } = await client.query<{ held: boolean }>(
    'select pg_try_advisory_lock(hashtextextended($1, 0)) as held',
    [owner],
  );
  return rows[0]?.held === true;
}
