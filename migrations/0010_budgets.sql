-- When a budget is free again, or null when it is free now.
create function identity.budget_free_at(
  held identity.budgets, most int, window_length interval, asked_at timestamptz
) returns timestamptz language plpgsql stable as $$
declare
  largest_exact constant int := 50;
  recent timestamptz[];
begin
  if most > largest_exact then
    return case when held.spent >= most and asked_at < held.window_start + window_length
      then held.window_start + window_length end;
  end if;
  recent := array(select h from unnest(held.hits) h where h > asked_at - window_length order by h);
  return case when cardinality(recent) >= most
    then coalesce(recent[cardinality(recent) - most + 1], asked_at) + window_length end;
end $$;

-- As before, but whoever is refused by what is written already takes no lock: a flood of refused requests would else
-- stand in the way of everybody through the budgets that all share.
create or replace function identity.take_budgets(
  keys text[], maxima int[], windows_ms bigint[], taken_at timestamptz
) returns table (refused_key text, retry_at timestamptz) language plpgsql as $$
declare
  largest_exact constant int := 50;
  wanted record;
  held identity.budgets;
  free_at timestamptz;
begin
  select w.key, identity.budget_free_at(b, w.max, w.ms * interval '1 millisecond', taken_at)
  into refused_key, retry_at
  from unnest(keys, maxima, windows_ms) as w(key, max, ms) join identity.budgets b on b.key = w.key
  order by 2 desc nulls last, w.key collate "C" limit 1;
  if retry_at is not null then
    return next;
    return;
  end if;
  refused_key := null;

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
    free_at := identity.budget_free_at(held, wanted.max, wanted.window_length, taken_at);
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
