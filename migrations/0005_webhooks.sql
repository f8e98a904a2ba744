-- Webhooks: who wants to be told of events, what is still to be told, and what the receivers answered. Every row
-- carries its owner, `merchant:…` or `partner:…`, and keys lead with it.
create schema webhooks;

create table webhooks.endpoints (
  owner text not null check (owner ~ '^(merchant|partner):[A-Za-z0-9._-]{1,64}$'),
  endpoint_id uuid not null,
  url text not null check (length(url) <= 2048),
  event_types text[] not null check (cardinality(event_types) between 1 and 20),
  description text check (length(description) <= 128),
  status text not null check (status in ('enabled', 'disabled')),
  disabled_reason text check (disabled_reason in ('requested', 'gone', 'failing')),
  disabled_at timestamptz,
  failing_since timestamptz,                 -- the first failure after the last success
  secret_sealed bytea not null,
  -- During a rotation the secret before this one signs as well.
  previous_secret_sealed bytea,
  previous_secret_expires_at timestamptz,
  created_at timestamptz not null,
  primary key (owner, endpoint_id),
  check ((status = 'disabled') = (disabled_reason is not null)),
  check ((status = 'disabled') = (disabled_at is not null)),
  check ((previous_secret_sealed is null) = (previous_secret_expires_at is null))
);

-- One row for each event that an endpoint has yet to take. It goes when the event was delivered or given up.
create table webhooks.queue (
  owner text not null,
  endpoint_id uuid not null,
  object_id uuid not null,
  sequence bigint not null,                  -- the order of an object's events; others have none between them
  event_id uuid not null,
  type text not null,
  queued_at timestamptz not null,
  due_at timestamptz not null,               -- 'infinity' behind another event of the same object
  attempts int not null default 0,
  lease_until timestamptz,                   -- somebody is delivering it, and has until then to say how it went
  primary key (owner, object_id, endpoint_id, sequence)
);
-- A queue is empty at one moment and long at the next, so that statistics about it are always wrong. Each statement
-- therefore has one index that fits it: this one for what is due, the key for one object's events.
create index queue_due on webhooks.queue (owner, endpoint_id, due_at) where due_at < 'infinity';
create index queue_leased on webhooks.queue (owner, endpoint_id) where lease_until is not null;

-- Puts an event into the queue of every endpoint that wants it. An owner without endpoints costs one look into their
-- key. What stands behind another event of its object is due only once that one is out of the way ('infinity' until
-- then), so that whoever looks for what is due finds nothing that is blocked. The lock keeps the one in front from
-- leaving before this transaction ends: whoever removes it then sees what comes next.
create function webhooks.queue_event(
  p_owner text, p_object_id uuid, p_sequence bigint, p_event_id uuid, p_type text, p_at timestamptz
) returns void language plpgsql as $$
declare
  receiver uuid;
begin
  for receiver in
    select e.endpoint_id from webhooks.endpoints e
    where e.owner = p_owner and e.status = 'enabled'
      and e.event_types && array['*', split_part(p_type, '.', 1) || '.*', p_type]
  loop
    perform from webhooks.queue q
    where q.owner = p_owner and q.endpoint_id = receiver and q.object_id = p_object_id
    order by q.sequence desc limit 1 for key share;
    insert into webhooks.queue (owner, endpoint_id, object_id, sequence, event_id, type, queued_at, due_at)
    values (p_owner, receiver, p_object_id, p_sequence, p_event_id, p_type, p_at,
      case when found then 'infinity'::timestamptz else p_at end);
  end loop;
end $$;

-- The events of merchants are queued by the very statement that writes them: no event is without its deliveries, and
-- no payment waits for a second round trip. This trigger and the one below are all that the schemas know of each other.
create function webhooks.queue_merchant_event() returns trigger language plpgsql as $$
begin
  perform webhooks.queue_event(
    'merchant:' || new.merchant_id, new.object_id, new.sequence, new.event_id, new.type, new.created_at);
  return null;
end $$;
create trigger queue_webhooks after insert on checkout.events
  for each row execute function webhooks.queue_merchant_event();
create unique index events_by_id on checkout.events (merchant_id, event_id);

-- What partners are told of people, written in the transaction that made it true, and dropped by the day.
create sequence identity.event_sequence;
create table identity.events (
  client_id text not null,
  event_id uuid not null,
  created_at timestamptz not null,
  user_id uuid not null,
  object_id uuid not null,                   -- the person or the session: what the order of events is kept for
  sequence bigint not null default nextval('identity.event_sequence'),
  type text not null,
  payload text not null,
  primary key (client_id, event_id, created_at)
) partition by range (created_at);
create table identity.events_other partition of identity.events default;

create function webhooks.queue_partner_event() returns trigger language plpgsql as $$
begin
  perform webhooks.queue_event(
    'partner:' || new.client_id, new.object_id, new.sequence, new.event_id, new.type, new.created_at);
  return null;
end $$;
create trigger queue_webhooks after insert on identity.events
  for each row execute function webhooks.queue_partner_event();

-- Every attempt, for the owner of the endpoint to see.
create table webhooks.deliveries (
  owner text not null,
  endpoint_id uuid not null,
  delivery_id uuid not null,
  at timestamptz not null,
  event_id uuid not null,
  type text not null,
  attempt int not null,
  result text not null check (result in ('delivered', 'failed', 'given_up')),
  response_status int,                       -- none when there was no answer
  response_body text,                        -- its beginning
  duration_ms int not null,
  detail text,
  next_attempt_at timestamptz,
  primary key (owner, endpoint_id, delivery_id, at)
) partition by range (at);
create table webhooks.deliveries_other partition of webhooks.deliveries default;

-- Makes the partitions of the coming days and drops those older than what is kept, with its owner's rights, because
-- the server's own role may not make or drop tables.
create function webhooks.keep_delivery_partitions(today date, days_kept int) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  day date;
  old record;
begin
  for ahead in 0..7 loop
    day := today + ahead;
    begin
      execute format(
        'create table if not exists webhooks.%I partition of webhooks.deliveries for values from (%L) to (%L)',
        'deliveries_' || to_char(day, 'YYYYMMDD'),
        day::timestamp at time zone 'UTC', (day + 1)::timestamp at time zone 'UTC');
    exception when check_violation then
      null; -- The job came late and rows of that day stand in the default partition; they may stay there.
    end;
  end loop;
  for old in
    select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
    where i.inhparent = 'webhooks.deliveries'::regclass
      and c.relname ~ '_[0-9]{8}$' and to_date(right(c.relname, 8), 'YYYYMMDD') < today - days_kept
  loop
    execute format('drop table webhooks.%I', old.name);
  end loop;
end $$;

-- As before, with one table more.
create or replace function identity.keep_partitions(parent text, today date, days_kept int) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  day date;
  old record;
begin
  if parent not in ('one_time_codes', 'logout_deliveries', 'events') then
    raise exception 'identity.% has no partitions to keep', parent;
  end if;
  for ahead in 0..7 loop
    day := today + ahead;
    begin
      execute format(
        'create table if not exists identity.%I partition of identity.%I for values from (%L) to (%L)',
        parent || '_' || to_char(day, 'YYYYMMDD'), parent,
        day::timestamp at time zone 'UTC', (day + 1)::timestamp at time zone 'UTC');
    exception when check_violation then
      null;
    end;
  end loop;
  for old in
    select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
    where i.inhparent = format('identity.%I', parent)::regclass
      and c.relname ~ '_[0-9]{8}$' and to_date(right(c.relname, 8), 'YYYYMMDD') < today - days_kept
  loop
    execute format('drop table identity.%I', old.name);
  end loop;
end $$;
