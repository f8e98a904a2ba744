-- Checkout. Every row carries merchant_id and keys lead with it, so that a distributed PostgreSQL can spread the tables
-- by it. Merchants and terminals are small reference tables. Money is bigint in minor units.

create table checkout.merchants (
  merchant_id text primary key check (merchant_id ~ '^[A-Za-z0-9_-]{1,15}$'),
  name text not null check (length(name) between 1 and 100),
  return_url_origins text[] not null,
  fee_basis_points int not null default 0 check (fee_basis_points between 0 and 10000),
  fee_fixed bigint not null default 0 check (fee_fixed >= 0),
  balance_floor bigint not null default 0,   -- how far below zero refunds may take the balance, as a negative number
  requests_per_second int not null default 100 check (requests_per_second > 0),
  disabled_at timestamptz,
  created_at timestamptz not null
);

create table checkout.terminals (
  merchant_id text not null,
  terminal_id text not null check (terminal_id ~ '^[A-Za-z0-9]{1,8}$'),
  currencies text[] not null,
  disabled_at timestamptz,
  created_at timestamptz not null,
  primary key (merchant_id, terminal_id)
);

create table checkout.payments (
  merchant_id text not null,
  payment_id uuid not null,
  terminal_id text not null,
  status text not null check (status in ('pending', 'waiting_for_capture', 'succeeded', 'canceled')),
  amount bigint not null check (amount between 1 and 999999999999),
  currency text not null check (currency ~ '^[A-Z]{3}$'),
  capture boolean not null,
  captured bigint not null default 0,
  refunded bigint not null default 0 check (refunded >= 0),
  refund_held bigint not null default 0 check (refund_held >= 0),
  description text check (length(description) <= 128),
  merchant_order_id text check (length(merchant_order_id) <= 64),
  metadata jsonb not null,
  return_url text not null,
  locale text check (locale in ('az', 'en', 'ru')),
  created_at timestamptz not null,
  expires_at timestamptz not null,
  extensions int not null default 0 check (extensions between 0 and 10),
  attempts int not null default 0 check (attempts between 0 and 5),
  -- The attempt whose outcome is not known yet: while there is one, nothing else may happen to a pending payment.
  open_attempt_id uuid,
  last_attempt jsonb,
  -- The attempt that was approved, by which the acquirer knows the money.
  paid_attempt_id uuid,
  payment_method jsonb,
  authorization_details jsonb,
  wallet_user_id uuid,
  authorized_at timestamptz,
  capture_before timestamptz,
  -- A capture that was asked for and whose outcome is not known yet.
  capture_id uuid,
  capture_amount bigint,
  capture_lease_until timestamptz,
  capture_inquiries int not null default 0,
  captured_at timestamptz,
  canceled_at timestamptz,
  cancel_party text check (cancel_party in ('merchant', 'customer', 'acquirer', 'tollgate')),
  cancel_reason text,
  test boolean not null,
  version int not null check (version > 0),
  primary key (merchant_id, payment_id),
  check (captured between 0 and amount),
  -- The last wall against refunds that race: whatever the code believes, this sum cannot be exceeded.
  check (refunded + refund_held <= captured),
  check ((status = 'succeeded') = (captured_at is not null)),
  check ((status = 'succeeded') = (captured > 0)),
  check ((status = 'canceled') = (canceled_at is not null)),
  check ((canceled_at is null) = (cancel_party is null) and (canceled_at is null) = (cancel_reason is null)),
  check (status <> 'waiting_for_capture' or (authorized_at is not null and capture_before is not null)),
  check (open_attempt_id is null or status = 'pending'),
  check ((capture_id is null) = (capture_amount is null)),
  check (capture_id is null or status = 'waiting_for_capture')
);
create index payments_to_expire on checkout.payments (expires_at) where status = 'pending' and open_attempt_id is null;
create index payments_to_release on checkout.payments (capture_before) where status = 'waiting_for_capture';
create index captures_to_ask on checkout.payments (capture_lease_until) where capture_id is not null;
create index payments_by_order on checkout.payments (merchant_id, merchant_order_id) where merchant_order_id is not null;

create table checkout.attempts (
  merchant_id text not null,
  payment_id uuid not null,
  attempt_id uuid not null,                  -- our reference at the acquirer
  method text not null check (method in ('card', 'wallet')),
  status text not null check (status in ('running', 'challenge', 'unknown', 'approved', 'declined', 'failed')),
  reason text,
  card jsonb,                                -- brand, first6, last4 and expiry; never more
  started_at timestamptz not null,
  settled_at timestamptz,
  challenge_url text,
  -- When to ask the acquirer next, for attempts that are not settled.
  inquire_at timestamptz,
  inquiries int not null default 0,
  -- An approval of something that has ended is given back.
  reversal text check (reversal in ('due', 'done')),
  primary key (merchant_id, payment_id, attempt_id),
  check ((status in ('approved', 'declined', 'failed')) = (settled_at is not null)),
  check ((settled_at is null) = (inquire_at is not null))
);
create index attempts_to_ask on checkout.attempts (inquire_at) where inquire_at is not null;
create index attempts_to_reverse on checkout.attempts (settled_at) where reversal = 'due';

create table checkout.refunds (
  merchant_id text not null,
  refund_id uuid not null,                   -- our reference at the acquirer
  payment_id uuid not null,
  terminal_id text not null,
  status text not null check (status in ('pending', 'succeeded', 'canceled')),
  amount bigint not null check (amount > 0),
  currency text not null,
  reason text check (length(reason) <= 128),
  description text check (length(description) <= 128),
  metadata jsonb not null,
  created_at timestamptz not null,
  settled_at timestamptz,
  cancel_party text check (cancel_party in ('merchant', 'customer', 'acquirer', 'tollgate')),
  cancel_reason text,
  rrn text,
  test boolean not null,
  version int not null check (version > 0),
  -- Who is asking the acquirer just now has until then; after it anybody may go on.
  lease_until timestamptz,
  inquiries int not null default 0,
  primary key (merchant_id, refund_id),
  check ((status = 'pending') = (settled_at is null)),
  check ((status = 'pending') = (lease_until is not null)),
  check ((status = 'canceled') = (cancel_reason is not null) and (cancel_party is null) = (cancel_reason is null))
);
create index refunds_of_payment on checkout.refunds (merchant_id, payment_id);
create index refunds_to_ask on checkout.refunds (lease_until) where status = 'pending';

-- The guard of idempotency, for ever: one row for each payment, refund, capture and cancellation.
create table checkout.idempotency_keys (
  merchant_id text not null,
  key text not null check (length(key) between 1 and 255),
  call text not null check (call in ('create_payment', 'capture_payment', 'cancel_payment', 'create_refund')),
  fingerprint bytea not null check (length(fingerprint) = 32),
  object_id uuid not null,
  created_at timestamptz not null,
  primary key (merchant_id, key)
);

-- The answers themselves, kept for 72 hours and dropped by the day.
create table checkout.answers (
  merchant_id text not null,
  key text not null,
  created_at timestamptz not null,
  call text not null,
  fingerprint bytea not null,
  status int not null,
  body text not null,
  primary key (merchant_id, key, created_at)
) partition by range (created_at);
create table checkout.answers_other partition of checkout.answers default;

create function checkout.keep_answer_partitions(today date, days_kept int) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  day date;
  old record;
begin
  for ahead in 0..7 loop
    day := today + ahead;
    begin
      execute format(
        'create table if not exists checkout.%I partition of checkout.answers for values from (%L) to (%L)',
        'answers_' || to_char(day, 'YYYYMMDD'),
        day::timestamp at time zone 'UTC', (day + 1)::timestamp at time zone 'UTC');
    exception when check_violation then
      null; -- The job came late and rows of that day stand in the default partition; they may stay there.
    end;
  end loop;
  for old in
    select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
    where i.inhparent = 'checkout.answers'::regclass
      and c.relname ~ '_[0-9]{8}$' and to_date(right(c.relname, 8), 'YYYYMMDD') < today - days_kept
  loop
    execute format('drop table checkout.%I', old.name);
  end loop;
end $$;

-- One row for each version of each object, written in the transaction that made it true.
create table checkout.events (
  merchant_id text not null,
  object_id uuid not null,
  sequence int not null,
  event_id uuid not null,
  type text not null,
  payload text not null,
  created_at timestamptz not null,
  primary key (merchant_id, object_id, sequence)
);

-- The ledger. An amount is what an account gains; the amounts of a transaction add up to nothing.
create table checkout.ledger_accounts (
  owner text not null,                       -- a merchant, a person, or 'tollgate' for the shared ones
  kind text not null check (kind in ('merchant_available', 'merchant_refund_hold', 'wallet', 'wallet_hold')),
  currency text not null,
  balance bigint not null default 0,
  floor bigint,                              -- none: any balance will do
  primary key (owner, kind, currency)
);
comment on table checkout.ledger_accounts is
  'Running balances of the accounts that have one. Shared accounts (acquirer_receivable, fee_income, funding) have none: their balance is the sum of their entries, and no payment waits for another on them.';

create table checkout.ledger_transactions (
  merchant_id text not null,                 -- '*' when no merchant takes part
  transaction_id uuid not null,
  kind text not null,
  reference uuid not null,
  currency text not null,
  created_at timestamptz not null,
  primary key (merchant_id, transaction_id),
  unique (merchant_id, kind, reference)      -- one posting for each event
);

create table checkout.ledger_entries (
  merchant_id text not null,
  transaction_id uuid not null,
  line int not null check (line > 0),
  owner text not null,
  kind text not null,
  currency text not null,
  amount bigint not null check (amount <> 0),
  primary key (merchant_id, transaction_id, line)
);

create function checkout.refuse_change() returns trigger language plpgsql as $$
begin
  raise exception '% is append only', tg_table_name using errcode = 'insufficient_privilege';
end $$;
create trigger append_only before update or delete on checkout.ledger_transactions
  for each row execute function checkout.refuse_change();
create trigger append_only_truncate before truncate on checkout.ledger_transactions
  for each statement execute function checkout.refuse_change();
create trigger append_only before update or delete on checkout.ledger_entries
  for each row execute function checkout.refuse_change();
create trigger append_only_truncate before truncate on checkout.ledger_entries
  for each statement execute function checkout.refuse_change();

-- All lines of a transaction come in one statement, after the transaction itself and beginning with line 1, so that
-- none can be added later.
create function checkout.check_entries() returns trigger language plpgsql as $$
declare
  entry record;
begin
  if exists (
    select from added group by merchant_id, transaction_id, currency having sum(amount) <> 0 or count(*) < 2
  ) or exists (
    select from added group by merchant_id, transaction_id
    having min(line) <> 1 or max(line) <> count(*) or count(distinct currency) <> 1
  ) then
    raise exception 'the entries of a ledger transaction do not add up' using errcode = 'check_violation';
  end if;
  -- One by one, by their key: a join would be planned for a thousand rows, and read the whole ledger for three.
  for entry in select distinct merchant_id, transaction_id, currency from added loop
    perform from checkout.ledger_transactions t
    where t.merchant_id = entry.merchant_id and t.transaction_id = entry.transaction_id
      and t.currency = entry.currency;
    if not found then
      raise exception 'the entries of a ledger transaction do not add up' using errcode = 'check_violation';
    end if;
  end loop;
  return null;
end $$;
create trigger balanced after insert on checkout.ledger_entries
  referencing new table as added for each statement execute function checkout.check_entries();

-- Posts a transaction and moves the running balances, or does nothing and says false when one would fall below
-- its floor. Accounts are locked in one order, so that two postings never wait for each other in a circle.
create function checkout.post(
  p_merchant_id text, p_transaction_id uuid, p_kind text, p_reference uuid, p_currency text, p_at timestamptz,
  p_owners text[], p_kinds text[], p_amounts bigint[], p_floors bigint[]
) returns boolean language plpgsql as $$
declare
  line record;
begin
  for line in
    select owner, kind, sum(amount)::bigint as amount, min(floor) as floor
    from unnest(p_owners, p_kinds, p_amounts, p_floors) as given (owner, kind, amount, floor)
    where kind in ('merchant_available', 'merchant_refund_hold', 'wallet', 'wallet_hold')
    group by owner, kind order by owner collate "C", kind collate "C"
  loop
    insert into checkout.ledger_accounts (owner, kind, currency, floor)
    values (line.owner, line.kind, p_currency, line.floor) on conflict do nothing;
    perform from checkout.ledger_accounts
    where owner = line.owner and kind = line.kind and currency = p_currency
      and (line.amount >= 0 or line.floor is null or balance + line.amount >= line.floor)
    for no key update;
    if not found then return false; end if;
  end loop;

  insert into checkout.ledger_transactions (merchant_id, transaction_id, kind, reference, currency, created_at)
  values (p_merchant_id, p_transaction_id, p_kind, p_reference, p_currency, p_at);
  insert into checkout.ledger_entries (merchant_id, transaction_id, line, owner, kind, currency, amount)
  select p_merchant_id, p_transaction_id, at, owner, kind, p_currency, amount
  from unnest(p_owners, p_kinds, p_amounts) with ordinality as given (owner, kind, amount, at);
  -- The floor is the one of today's terms, and kept only to be looked at. One account after another, by its key:
  -- planned as a join, this would read the balances of all merchants.
  for line in
    select owner, kind, amount, floor
    from unnest(p_owners, p_kinds, p_amounts, p_floors) as given (owner, kind, amount, floor)
    where kind in ('merchant_available', 'merchant_refund_hold', 'wallet', 'wallet_hold')
  loop
    update checkout.ledger_accounts set balance = balance + line.amount, floor = line.floor
    where owner = line.owner and kind = line.kind and currency = p_currency;
  end loop;
  return true;
end $$;

-- The sandbox acquirer's own books. Nothing else reads or writes them. Of a card they keep what it is going to do.
create table checkout.sandbox_authorizations (
  merchant_id text not null,
  reference text not null,
  status text not null check (status in ('challenge', 'approved', 'declined', 'failed')),
  reason text,
  amount bigint not null check (amount >= 0), -- 0 for one that was asked about and had never come
  currency text not null,
  capture boolean not null,
  captured bigint not null default 0,
  refunded bigint not null default 0,
  reversed boolean not null default false,
  -- The answer gets lost until somebody asks what became of it.
  silent boolean not null default false,
  refuses_refunds boolean not null default false,
  three_d_secure boolean not null default false,
  -- How it ends once the code was right; null is an approval.
  reason_after_challenge text,
  wrong_codes int not null default 0,
  return_url text not null,
  created_at timestamptz not null,
  primary key (merchant_id, reference),
  check (captured between 0 and amount and refunded between 0 and captured),
  check (captured = 0 or status = 'approved'),
  check ((status = 'declined') = (reason is not null))
);

create table checkout.sandbox_operations (
  merchant_id text not null,
  reference text not null,
  kind text not null check (kind in ('capture', 'reverse', 'refund')),
  authorization_reference text not null,
  amount bigint not null,
  currency text not null,
  reason text,                               -- why it was refused; null when it was done
  created_at timestamptz not null,
  primary key (merchant_id, reference)
);
