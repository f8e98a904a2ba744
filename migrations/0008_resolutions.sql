-- How somebody has put right what needs a person: what the acquirer did against what was settled, and what it refuses
-- to give back. Until then it is an alarm.
alter table checkout.contradictions
  add column resolved_at timestamptz,
  add column resolved_by text,
  add column resolution text,
  add check (num_nulls(resolved_at, resolved_by, resolution) in (0, 3));

alter table checkout.attempts
  add column resolved_at timestamptz,
  add column resolved_by text,
  add column resolution text,
  add check (num_nulls(resolved_at, resolved_by, resolution) in (0, 3)),
  add check (resolved_at is null or reversal is not distinct from 'refused');
