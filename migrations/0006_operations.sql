-- What operators do to merchants, terminals and wallets. What they do to people and clients stands in identity.audit.
create table checkout.audit (
  merchant_id text not null,                -- '*' when no merchant takes part
  audit_id bigint generated always as identity,
  at timestamptz not null,
  actor text not null,
  action text not null,
  object text not null,                     -- the merchant, the terminal or the person it was done to
  details jsonb not null default '{}',
  primary key (merchant_id, audit_id)
);
create index audit_by_time on checkout.audit (at);

create trigger append_only before update or delete on checkout.audit
  for each row execute function checkout.refuse_change();
create trigger append_only_truncate before truncate on checkout.audit
  for each statement execute function checkout.refuse_change();
