-- Identity. Every row about a person carries user_id, and keys lead with it, so that a distributed PostgreSQL can
-- spread the tables by it. Codes and tokens carry the user_id inside themselves for the same reason. Clients and
-- signing keys are small reference tables.

create table identity.clients (
  id uuid primary key,                      -- `sub` of the client's own tokens
  client_id text not null unique check (client_id ~ '^[A-Za-z0-9._-]{1,64}$'),
  name text not null check (length(name) between 1 and 100),
  audience text not null check (audience in ('ecosystem', 'external')),
  grant_types text[] not null check (grant_types <@ array['authorization_code', 'refresh_token', 'client_credentials']),
  scopes text[] not null,
  redirect_uris text[] not null default '{}',
  post_logout_redirect_uris text[] not null default '{}',
  backchannel_logout_uri text,
  secret_hash bytea check (length(secret_hash) = 32),
  -- During a rotation the secret before this one works as well.
  previous_secret_hash bytea check (length(previous_secret_hash) = 32),
  previous_secret_expires_at timestamptz,
  require_pkce boolean not null default true,
  require_state boolean not null default true,
  -- May see the national identification number and the identity card number.
  identity_documents boolean not null,
  access_token_alg text not null default 'ES256' check (access_token_alg in ('ES256', 'EdDSA', 'RS256')),
  id_token_alg text not null default 'ES256' check (id_token_alg in ('ES256', 'EdDSA', 'RS256')),
  access_token_seconds int not null default 300 check (access_token_seconds between 30 and 3600),
  refresh_token_seconds int not null default 1800 check (refresh_token_seconds between 60 and 36000),
  merchant_id text,                         -- the merchant this client acts for; checkout's own name for it
  disabled_at timestamptz,
  created_at timestamptz not null,
  check (length(array_to_string(redirect_uris, ' ')) <= 20000)
);

create table identity.signing_keys (
  kid text primary key,
  alg text not null check (alg in ('ES256', 'EdDSA', 'RS256')),
  public_jwk jsonb not null,
  private_sealed bytea not null,
  created_at timestamptz not null,
  activates_at timestamptz not null,        -- from here on it signs, until one with a later date does
  unique (alg, activates_at)
);

create table identity.users (
  user_id uuid primary key,
  phone text check (phone ~ '^\+[1-9][0-9]{6,14}$'),   -- none once it was merged into another
  first_name text check (length(first_name) <= 100),
  last_name text check (length(last_name) <= 100),
  patronymic text check (length(patronymic) <= 100),
  pin_sealed bytea,
  id_card_number_sealed bytea,
  profile_picture text check (length(profile_picture) <= 2048),
  birth_date date,
  resident boolean,
  active boolean not null default true,
  verification_status int not null default 1 check (verification_status between 1 and 4),
  gender int not null default 0 check (gender in (0, 1, 2, 9)),
  merged_into uuid,                         -- the account alive at the end of the chain, not the next link
  created_at timestamptz not null,
  updated_at timestamptz not null,
  check (merged_into is null or not active),
  check ((merged_into is null) = (phone is not null)),
  check (merged_into <> user_id)
);

-- Who logs in with a number. Apart from users, because here the number itself is the key that must be unique.
create table identity.phones (
  phone text primary key,
  user_id uuid not null
);

-- The former identifiers of a person, through chains of merges: one indexed read gives them all.
create table identity.merged_users (
  user_id uuid not null,                    -- the survivor
  old_user_id uuid not null,
  merged_at timestamptz not null,
  ordinal bigint generated always as identity,
  primary key (user_id, old_user_id)
);

create table identity.sessions (
  user_id uuid not null,
  sid uuid not null,
  cookie_hash bytea not null check (length(cookie_hash) = 32),
  phone text not null,                      -- the number this login was made with
  auth_time timestamptz not null,
  acr text not null,
  amr text[] not null,
  last_seen_at timestamptz not null,
  expires_at timestamptz not null,
  ended_at timestamptz,
  end_reason text,
  primary key (user_id, sid),
  check ((ended_at is null) = (end_reason is null))
);
create index sessions_open on identity.sessions (last_seen_at) where ended_at is null;
create index sessions_open_expiry on identity.sessions (expires_at) where ended_at is null;
create index sessions_ended on identity.sessions (ended_at) where ended_at is not null;

create table identity.client_sessions (
  user_id uuid not null,
  sid uuid not null,
  client_id text not null,
  scopes text[] not null,
  created_at timestamptz not null,
  ended_at timestamptz,
  primary key (user_id, sid, client_id)
);

create table identity.authorization_codes (
  user_id uuid not null,
  code_hash bytea not null check (length(code_hash) = 32),
  client_id text not null,
  sid uuid not null,
  redirect_uri text not null,
  code_challenge text,
  nonce text,
  scopes text[] not null,
  expires_at timestamptz not null,
  used_at timestamptz,
  grant_id uuid,                            -- what the exchange produced
  primary key (user_id, code_hash)
);
create index authorization_codes_expiry on identity.authorization_codes (expires_at);

-- A family of refresh tokens: one row, however often it is rotated.
create table identity.grants (
  user_id uuid not null,
  grant_id uuid not null,
  client_id text not null,
  sid uuid not null,
  scopes text[] not null,
  nonce text,
  -- The login it came from: the session may see another one by the same person.
  phone text not null,
  auth_time timestamptz not null,
  acr text not null,
  amr text[] not null,
  token_hash bytea not null check (length(token_hash) = 32),
  previous_token_hash bytea,
  -- The current token, readable only with the previous one in hand: what a client gets whose answer was lost.
  successor_sealed bytea,
  rotated_at timestamptz not null,
  expires_at timestamptz not null,          -- of the current token
  created_at timestamptz not null,
  revoked_at timestamptz,
  revoke_reason text,
  primary key (user_id, grant_id),
  check ((revoked_at is null) = (revoke_reason is null))
);
create index grants_of_session on identity.grants (user_id, sid, client_id);
create index grants_expiry on identity.grants (expires_at);

create table identity.consents (
  user_id uuid not null,
  client_id text not null,
  scopes text[] not null,
  identity_documents boolean not null,
  granted_at timestamptz not null,
  primary key (user_id, client_id)
);

-- One-time codes are cleaned by age, so whole days are dropped at once. Of one phone and browser only the newest
-- counts: a resend needs to touch no other row.
create table identity.one_time_codes (
  phone text not null,
  browser_hash bytea not null check (length(browser_hash) = 32),
  code_hash bytea not null check (length(code_hash) = 32),
  created_at timestamptz not null,
  expires_at timestamptz not null,
  attempts int not null default 0 check (attempts between 0 and 5),
  used_at timestamptz,
  known_device boolean not null,
  primary key (phone, browser_hash, created_at)
) partition by range (created_at);

-- Who was told of an ended session, and what they answered.
create table identity.logout_deliveries (
  user_id uuid not null,
  delivery_id uuid not null,
  client_id text not null,
  sid uuid not null,
  attempt int not null,
  at timestamptz not null,
  status int,                               -- HTTP status of the answer, none when there was no answer
  outcome text not null check (outcome in ('delivered', 'failed', 'refused')),
  detail text,
  primary key (user_id, delivery_id, attempt, at)
) partition by range (at);

-- Makes the partitions of the coming days and drops those older than what is kept. It runs with its owner's rights,
-- because the server's own role may not make or drop tables; so it takes no table but these.
create function identity.keep_partitions(parent text, today date, days_kept int) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  day date;
  old record;
begin
  if parent not in ('one_time_codes', 'logout_deliveries') then
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
      null; -- The job came late and rows of that day stand in the default partition; they may stay there.
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
-- A row whose day has no partition yet still finds a place: a late job must not stop logins.
create table identity.one_time_codes_other partition of identity.one_time_codes default;
create table identity.logout_deliveries_other partition of identity.logout_deliveries default;

-- Budgets: how often something happened lately. A small budget keeps each instant, so its window slides exactly; a
-- large one counts within a fixed window. A key names a person or an address only by a keyed hash.
create table identity.budgets (
  key text primary key,
  hits timestamptz[] not null default '{}' check (cardinality(hits) <= 50),
  window_start timestamptz not null,
  spent bigint not null default 0 check (spent >= 0),
  expires_at timestamptz not null
);
create index budgets_expiry on identity.budgets (expires_at);

-- Takes one from each budget, or nothing from any. No row: taken. A row: the budget that is free again last, and when.
-- Locks are taken one by one in the order of the keys, so that two callers cannot wait for each other; a row that is
-- not there yet is made on the way and not beforehand, for the same reason.
create function identity.take_budgets(keys text[], maxima int[], windows_ms bigint[], taken_at timestamptz)
returns table (refused_key text, retry_at timestamptz) language plpgsql as $$
declare
  largest_exact constant int := 50;
  wanted record;
  held identity.budgets;
  recent timestamptz[];
  free_at timestamptz;
begin
  for wanted in
    select w.key, w.max, w.ms * interval '1 millisecond' as window_length
    from unnest(keys, maxima, windows_ms) as w(key, max, ms) order by w.key collate "C"
  loop
    loop
      select * into held from identity.budgets b where b.key = wanted.key for update;
      exit when found;
      insert into identity.budgets (key, window_start, expires_at)
      values (wanted.key, taken_at, taken_at + wanted.window_length) on conflict do nothing;
    end loop;
    free_at := null;
    if wanted.max > largest_exact then
      if held.spent >= wanted.max and taken_at < held.window_start + wanted.window_length then
        free_at := held.window_start + wanted.window_length;
      end if;
    else
      recent := array(select h from unnest(held.hits) h where h > taken_at - wanted.window_length order by h);
      if cardinality(recent) >= wanted.max then
        free_at := coalesce(recent[cardinality(recent) - wanted.max + 1], taken_at) + wanted.window_length;
      end if;
    end if;
    if free_at is not null and (retry_at is null or free_at > retry_at) then
      refused_key := wanted.key;
      retry_at := free_at;
    end if;
  end loop;
  if refused_key is not null then
    -- Rows that were only made to be looked at go again, or refusals would fill the table.
    delete from identity.budgets b where b.key = any(keys) and b.hits = '{}' and b.spent = 0;
    return next;
    return;
  end if;

  update identity.budgets b set
    hits = case when w.is_exact
      then array(select h from unnest(b.hits) h where h > taken_at - w.length order by h) || taken_at
      else '{}' end,
    window_start = case when w.is_exact or w.is_over then taken_at else b.window_start end,
    spent = case when w.is_exact then 0 when w.is_over then 1 else b.spent + 1 end,
    expires_at = case when w.is_exact or w.is_over then taken_at else b.window_start end + w.length
  from (
    select i.key, i.max <= largest_exact as is_exact, i.ms * interval '1 millisecond' as length,
      taken_at >= c.window_start + i.ms * interval '1 millisecond' as is_over
    from unnest(keys, maxima, windows_ms) as i(key, max, ms) join identity.budgets c on c.key = i.key
  ) w
  where b.key = w.key;
end $$;

-- Codes sent to strangers and how many of them were proven, by country prefix and by the time of sending: a prefix
-- where hardly anybody proves a code is being pumped.
create table identity.sms_conversion (
  prefix text not null,
  slot timestamptz not null,                -- five minutes each
  sent int not null default 0 check (sent >= 0),
  verified int not null default 0 check (verified >= 0),
  primary key (prefix, slot)
);
create index sms_conversion_age on identity.sms_conversion (slot);

create table identity.audit (
  user_id uuid not null,                    -- all zeros when it is not about a person
  audit_id bigint generated always as identity,
  at timestamptz not null,
  actor text not null,
  action text not null,
  details jsonb not null default '{}',
  primary key (user_id, audit_id)
);
create index audit_by_time on identity.audit (at);

create function identity.refuse_change() returns trigger language plpgsql as $$
begin
  raise exception '% is append only', tg_table_name using errcode = 'insufficient_privilege';
end $$;
create trigger append_only before update or delete on identity.audit
  for each row execute function identity.refuse_change();
create trigger append_only_truncate before truncate on identity.audit
  for each statement execute function identity.refuse_change();
