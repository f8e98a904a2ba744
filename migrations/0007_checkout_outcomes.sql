-- What the acquirer has done although we had settled that it was not done. There should be none: each needs a person.
create table checkout.contradictions (
  merchant_id text not null,
  reference uuid not null,                   -- ours at the acquirer: the refund, or the capture
  kind text not null check (kind in ('refund', 'capture')),
  payment_id uuid not null,
  found_at timestamptz not null,
  primary key (merchant_id, reference)
);
