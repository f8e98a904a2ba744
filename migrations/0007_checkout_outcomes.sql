-- What the acquirer has done although we had settled that it was not done. There should be none: each needs a person.
create table checkout.contradictions (
  merchant_id text not null,
  reference uuid not null,                   -- ours at the acquirer: the refund, or the capture
  kind text not null check (kind in ('refund', 'capture')),
  payment_id uuid not null,
  found_at timestamptz not null,
  primary key (merchant_id, reference)
);

-- When to ask for a reversal next; one that the acquirer refuses is not asked for again.
alter table checkout.attempts
  add column reverse_at timestamptz,
  drop constraint attempts_reversal_check,
  add check (reversal in ('due', 'done', 'refused'));
update checkout.attempts set reverse_at = settled_at, inquiries = 0 where reversal = 'due';
alter table checkout.attempts add check ((reversal is not distinct from 'due') = (reverse_at is not null));
drop index checkout.attempts_to_reverse;
create index attempts_to_reverse on checkout.attempts (reverse_at) where reverse_at is not null;

-- A key of a capture leads to that capture, by which it is known whether this is the one that was taken. So a payment
-- keeps it; a capture that still has to be asked about is one with a lease.
alter table checkout.payments
  drop constraint payments_check9,
  add check (capture_id is null or status in ('waiting_for_capture', 'succeeded')),
  add check ((capture_lease_until is null) = (capture_id is null or status <> 'waiting_for_capture'));
update checkout.idempotency_keys k set object_id = p.capture_id from checkout.payments p
where k.call = 'capture_payment' and p.merchant_id = k.merchant_id and p.payment_id = k.object_id
  and p.capture_id is not null;
-- Which of its keys took a payment was not kept before; each led to the payment, and goes on to do so.
update checkout.payments set capture_id = payment_id, capture_amount = captured
where status = 'succeeded' and not capture;
drop index checkout.captures_to_ask;
create index captures_to_ask on checkout.payments (capture_lease_until) where capture_lease_until is not null;

-- Whether somebody is asking the acquirer until the time of the lease. If nobody is, that time only says when the job
-- asks next, and a merchant who comes back need not wait for it.
alter table checkout.refunds add column asking boolean not null default true;
alter table checkout.payments add column capture_asking boolean not null default true;

-- Creating a payment is one statement, and its snapshot is older than what it may have waited for: a refusal under the
-- same key, which takes the key, keeps its answer and lets the key go. Being volatile, this sees that answer.
create function checkout.key_is_unanswered(p_merchant_id text, p_key text, p_since timestamptz) returns boolean
language plpgsql volatile as $$
begin
  if exists (
    select from checkout.answers where merchant_id = p_merchant_id and key = p_key and created_at > p_since
  ) then
    raise exception 'the key was answered' using errcode = 'TG001';
  end if;
  return true;
end $$;

-- As before, but the floor of an account is that under which its last debit was let through: a floor that the operator
-- raises above a balance is no breach, and what comes in is never refused.
create or replace function checkout.post(
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
    insert into checkout.ledger_accounts (owner, kind, currency)
    values (line.owner, line.kind, p_currency) on conflict do nothing;
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
  -- One account after another, by its key: planned as a join, this would read the balances of all merchants.
  for line in
    select owner, kind, amount, floor
    from unnest(p_owners, p_kinds, p_amounts, p_floors) as given (owner, kind, amount, floor)
    where kind in ('merchant_available', 'merchant_refund_hold', 'wallet', 'wallet_hold')
  loop
    update checkout.ledger_accounts
    set balance = balance + line.amount, floor = case when line.amount < 0 then line.floor else floor end
    where owner = line.owner and kind = line.kind and currency = p_currency;
  end loop;
  return true;
end $$;
