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
