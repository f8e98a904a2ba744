import pg from 'pg';

/** One thing that should hold and does not: which rule, about what, and both values. */
export type Breach = { invariant: string; object: string; expected: string; found: string };

export type VerifyOptions = {
  url: string;
  now: Date;
  /** How long after its time something may still wait to be asked about. */
  stuckAfterMs: number;
  onProgress?: (invariant: string) => void;
};

/** Of each invariant; a ledger with more is as broken, and the rest would only fill the memory. */
const mostBreachesEach = 100;

/**
 * Checks everything that must hold between the ledger and what it is about, on one snapshot, while the service goes
 * on. PostgreSQL does the adding up; only what does not hold comes here, so the size of the tables does not matter.
 */
export async function verifyLedger(options: VerifyOptions): Promise<Breach[]> {
  // A client of its own: the limits of the server's connections are for requests, not for reading whole tables.
  const client = new pg.Client({
    connectionString: options.url,
    application_name: 'tollgate verify-ledger',
    connectionTimeoutMillis: 5_000,
  });
  client.on('error', () => {});
  await client.connect();
  try {
    await client.query('begin isolation level repeatable read, read only');
    const breaches: Breach[] = [];
    for (const [invariant, check] of Object.entries(invariants)) {
      options.onProgress?.(invariant);
      const { rows } = await client.query<Omit<Breach, 'invariant'>>(
        `with at as (select $1::timestamptz as late)
         select object, expected, found from (${check}) as breach (object, expected, found), at
         limit ${mostBreachesEach}`,
        [new Date(options.now.getTime() - options.stuckAfterMs)],
      );
      breaches.push(...rows.map((row) => ({ invariant, ...row })));
    }
    await client.query('commit');
    return breaches;
  } finally {
    await client.end();
  }
}

const runningKinds = `('merchant_available', 'merchant_refund_hold', 'wallet', 'wallet_hold')`;

/** What the postings of an object have moved, by the kind of account. A foreign account counts for nothing. */
const moved = (kinds: string) => `
  select t.merchant_id, t.reference as object_id, min(t.currency) as currency,
    coalesce(sum(e.amount) filter (where e.kind = 'merchant_available' and e.owner = t.merchant_id), 0) as available,
    coalesce(sum(e.amount) filter (where e.kind = 'merchant_refund_hold' and e.owner = t.merchant_id), 0) as refund_hold,
    coalesce(sum(e.amount) filter (where e.kind = 'wallet_hold' and e.owner = t.merchant_id), 0) as wallet_hold,
    coalesce(sum(e.amount) filter (where e.kind = 'wallet'), 0) as wallet,
    coalesce(sum(e.amount) filter (where e.kind = 'acquirer_receivable'), 0) as receivable,
    coalesce(sum(e.amount) filter (where e.kind = 'fee_income'), 0) as fee,
    count(distinct t.transaction_id) filter (where t.kind = 'payment_captured') as captures,
    count(distinct t.transaction_id) filter (where t.kind = 'refund_held') as holds,
    count(distinct t.transaction_id) filter (where t.kind = 'refund_succeeded') as refunds,
    count(distinct t.transaction_id) filter (where t.kind = 'refund_canceled') as cancels
  from checkout.ledger_transactions t
  left join checkout.ledger_entries e on e.merchant_id = t.merchant_id and e.transaction_id = t.transaction_id
  where t.kind in (${kinds})
  group by t.merchant_id, t.reference`;

const objects = `
  select merchant_id, payment_id as object_id, version, status, 'payment' as type from checkout.payments
  union all
  select merchant_id, refund_id, version, status, 'refund' from checkout.refunds`;

/** Each selects what breaks its rule: the object, what was expected, what was found. `at.late` is the last patience. */
const invariants = {
  transaction_sums_to_zero: `
    select merchant_id || ' transaction ' || transaction_id, '0 ' || currency, sum(amount) || ' ' || currency
    from checkout.ledger_entries group by merchant_id, transaction_id, currency having sum(amount) <> 0`,

  currency_sums_to_zero: `
    select 'all entries in ' || currency, '0', sum(amount)::text
    from checkout.ledger_entries group by currency having sum(amount) <> 0`,

  transaction_has_its_entries: `
    select coalesce(t.merchant_id, e.merchant_id) || ' transaction ' || coalesce(t.transaction_id, e.transaction_id),
      coalesce('two or more entries from line 1 on in ' || t.currency, 'no entries without a transaction'),
      coalesce(e.lines || ' entries, lines ' || e.first || ' to ' || e.last || ' in ' || e.currencies, 'no entries')
    from checkout.ledger_transactions t
    full join (
      select merchant_id, transaction_id, count(*) as lines, min(line) as first, max(line) as last,
        string_agg(distinct currency, ', ') as currencies
      from checkout.ledger_entries group by merchant_id, transaction_id
    ) e on e.merchant_id = t.merchant_id and e.transaction_id = t.transaction_id
    where t.transaction_id is null or e.transaction_id is null
      or e.lines < 2 or e.first <> 1 or e.last <> e.lines or e.currencies <> t.currency`,

  balance_is_sum_of_entries: `
    select coalesce(a.owner, e.owner) || ' ' || coalesce(a.kind, e.kind) || ' ' || coalesce(a.currency, e.currency),
      coalesce(e.sum, 0)::text, coalesce(a.balance::text, 'no account')
    from checkout.ledger_accounts a
    full join (
      select owner, kind, currency, sum(amount) as sum from checkout.ledger_entries
      where kind in ${runningKinds} group by owner, kind, currency
    ) e on e.owner = a.owner and e.kind = a.kind and e.currency = a.currency
    where a.balance is distinct from coalesce(e.sum, 0)`,

  balance_not_below_floor: `
    select owner || ' ' || kind || ' ' || currency, 'at least ' || floor, balance::text
    from checkout.ledger_accounts where balance < floor`,

  refund_hold_is_pending_refunds: `
    select coalesce(a.owner, r.merchant_id) || ' ' || coalesce(a.currency, r.currency),
      coalesce(r.sum, 0)::text, coalesce(a.balance, 0)::text
    from (select owner, currency, balance from checkout.ledger_accounts where kind = 'merchant_refund_hold') a
    full join (
      select merchant_id, currency, sum(amount) as sum from checkout.refunds where status = 'pending'
      group by merchant_id, currency
    ) r on r.merchant_id = a.owner and r.currency = a.currency
    where coalesce(a.balance, 0) <> coalesce(r.sum, 0)`,

  wallet_hold_is_waiting_payments: `
    select coalesce(a.owner, p.merchant_id) || ' ' || coalesce(a.currency, p.currency),
      coalesce(p.sum, 0)::text, coalesce(a.balance, 0)::text
    from (select owner, currency, balance from checkout.ledger_accounts where kind = 'wallet_hold') a
    full join (
      select merchant_id, currency, sum(amount) as sum from checkout.payments
      where status = 'waiting_for_capture' and wallet_user_id is not null group by merchant_id, currency
    ) p on p.merchant_id = a.owner and p.currency = a.currency
    where coalesce(a.balance, 0) <> coalesce(p.sum, 0)`,

  refunds_within_captured: `
    select r.merchant_id || ' payment ' || r.payment_id,
      'at most ' || coalesce(p.captured, 0) || ' ' || coalesce(p.currency, 'of an unknown payment'),
      r.sum || ' ' || r.currencies
    from (
      select merchant_id, payment_id, sum(amount) filter (where status <> 'canceled') as sum,
        string_agg(distinct currency, ', ') as currencies
      from checkout.refunds group by merchant_id, payment_id
    ) r
    left join checkout.payments p on p.merchant_id = r.merchant_id and p.payment_id = r.payment_id
    where p.payment_id is null or r.sum > p.captured or r.currencies <> p.currency`,

  payment_knows_its_refunds: `
    select p.merchant_id || ' payment ' || p.payment_id,
      coalesce(r.done, 0) || ' refunded, ' || coalesce(r.held, 0) || ' held',
      p.refunded || ' refunded, ' || p.refund_held || ' held'
    from checkout.payments p
    left join (
      select merchant_id, payment_id, coalesce(sum(amount) filter (where status = 'succeeded'), 0) as done,
        coalesce(sum(amount) filter (where status = 'pending'), 0) as held
      from checkout.refunds group by merchant_id, payment_id
    ) r on r.merchant_id = p.merchant_id and r.payment_id = p.payment_id
    where p.refunded <> coalesce(r.done, 0) or p.refund_held <> coalesce(r.held, 0)`,

  payment_is_posted_as_it_stands: `
    select coalesce(p.merchant_id, m.merchant_id) || ' payment ' || coalesce(p.payment_id, m.object_id), expected, found
    from checkout.payments p
    full join (${moved(`'payment_captured', 'wallet_held', 'wallet_released'`)}) m
      on m.merchant_id = p.merchant_id and m.object_id = p.payment_id
    cross join lateral (
      select coalesce(p.captured, 0) as captured, p.wallet_user_id is not null as by_wallet,
        p.wallet_user_id is not null and p.status = 'waiting_for_capture' as waits,
        coalesce(p.status = 'succeeded', false) as succeeded
    ) as state
    cross join lateral (
      select format('%s: captured %s times, %s to the merchant and fees, %s from the acquirer, %s in the wallet, %s waiting',
          coalesce(p.status, 'no payment'), state.succeeded::int, state.captured,
          case when by_wallet then 0 else -state.captured end,
          case when waits then -p.amount when by_wallet then -state.captured else 0 end,
          case when waits then p.amount else 0 end) as expected,
        format('%s: captured %s times, %s to the merchant and fees, %s from the acquirer, %s in the wallet, %s waiting',
          coalesce(p.status, 'no payment'), coalesce(m.captures, 0), coalesce(m.available + m.fee, 0),
          coalesce(m.receivable, 0), coalesce(m.wallet, 0), coalesce(m.wallet_hold, 0)) as found
    ) as text
    where p.payment_id is null or expected <> found or coalesce(m.currency <> p.currency, false)
      or coalesce(m.fee, 0) not between 0 and state.captured or coalesce(m.refund_hold, 0) <> 0`,

  refund_is_posted_as_it_stands: `
    select coalesce(r.merchant_id, m.merchant_id) || ' refund ' || coalesce(r.refund_id, m.object_id), expected, found
    from checkout.refunds r
    left join checkout.payments p on p.merchant_id = r.merchant_id and p.payment_id = r.payment_id
    full join (${moved(`'refund_held', 'refund_succeeded', 'refund_canceled'`)}) m
      on m.merchant_id = r.merchant_id and m.object_id = r.refund_id
    cross join lateral (
      select coalesce(r.amount, 0) as amount, p.wallet_user_id is not null as to_wallet,
        coalesce(r.status, 'no refund') as status
    ) as state
    cross join lateral (
      select format('%s: held %s, succeeded %s, canceled %s times, %s to the merchant, %s on hold, %s to the acquirer, %s to the wallet',
          state.status, (not to_wallet)::int, (state.status = 'succeeded')::int, (state.status = 'canceled')::int,
          case when state.status = 'canceled' then 0 else -state.amount end,
          case when state.status = 'pending' then state.amount else 0 end,
          case when state.status = 'succeeded' and not to_wallet then state.amount else 0 end,
          case when state.status = 'succeeded' and to_wallet then state.amount else 0 end) as expected,
        format('%s: held %s, succeeded %s, canceled %s times, %s to the merchant, %s on hold, %s to the acquirer, %s to the wallet',
          state.status, coalesce(m.holds, 0), coalesce(m.refunds, 0), coalesce(m.cancels, 0), coalesce(m.available, 0),
          coalesce(m.refund_hold, 0), coalesce(m.receivable, 0), coalesce(m.wallet, 0)) as found
    ) as text
    where r.refund_id is null or expected <> found or coalesce(m.currency <> r.currency, false)`,

  version_has_one_event: `
    select coalesce(o.merchant_id, e.merchant_id) || ' ' || coalesce(o.type, 'object') || ' ' || coalesce(o.object_id, e.object_id),
      coalesce('events 1 to ' || o.version, 'no events without their object'),
      coalesce(e.events || ' events, ' || e.first || ' to ' || e.last, 'no events')
    from (${objects}) o
    full join (
      select merchant_id, object_id, count(*) as events, min(sequence) as first, max(sequence) as last
      from checkout.events group by merchant_id, object_id
    ) e on e.merchant_id = o.merchant_id and e.object_id = o.object_id
    where o.version is null or e.events is null or e.first <> 1 or e.last <> o.version or e.events <> o.version`,

  last_event_tells_the_status: `
    select o.merchant_id || ' ' || o.type || ' ' || o.object_id, o.status,
      e.payload::jsonb #>> '{data,object,status}'
    from (${objects}) o
    join checkout.events e on e.merchant_id = o.merchant_id and e.object_id = o.object_id and e.sequence = o.version
    where e.payload::jsonb #>> '{data,object,status}' is distinct from o.status`,

  nothing_leaves_its_final_state: `
    select f.merchant_id || ' object ' || f.object_id, 'nothing after ' || f.type,
      later.type || ' as event ' || later.sequence
    from checkout.events f
    join checkout.events later on later.merchant_id = f.merchant_id and later.object_id = f.object_id
      and later.sequence > f.sequence
    where f.type in ('payment.canceled', 'refund.succeeded', 'refund.canceled')
      or (f.type = 'payment.succeeded' and later.type <> 'payment.updated')`,

  attempt_is_asked_about_in_time: `
    select merchant_id || ' attempt ' || attempt_id || ' of payment ' || payment_id, 'asked about at ' || inquire_at,
      'still ' || status
    from checkout.attempts, at where inquire_at < at.late`,

  refund_is_asked_about_in_time: `
    select merchant_id || ' refund ' || refund_id, 'asked about at ' || lease_until, 'still ' || status
    from checkout.refunds, at where status = 'pending' and lease_until < at.late`,

  capture_is_asked_about_in_time: `
    select merchant_id || ' payment ' || payment_id, 'asked about at ' || capture_lease_until,
      'capture of ' || capture_amount || ' not settled'
    from checkout.payments, at
    where capture_lease_until < at.late`,

  reversal_is_done_in_time: `
    select a.merchant_id || ' attempt ' || a.attempt_id || ' of payment ' || a.payment_id,
      'given back, asked for at ' || a.reverse_at, 'reversal still due'
    from at, checkout.attempts a where a.reverse_at < at.late`,

  reversal_is_not_refused: `
    select merchant_id || ' attempt ' || attempt_id || ' of payment ' || payment_id, 'given back',
      'refused by the acquirer'
    from checkout.attempts where reversal = 'refused' and resolved_at is null`,

  what_was_settled_stands: `
    select merchant_id || ' ' || kind || ' ' || reference || ' of payment ' || payment_id, 'not done, as was settled',
      'done by the acquirer, found out ' || found_at
    from checkout.contradictions where resolved_at is null`,

  payment_points_to_its_attempts: `
    select p.merchant_id || ' payment ' || p.payment_id,
      coalesce('open attempt ' || p.open_attempt_id, 'no open attempt'),
      coalesce(open.ids, 'no open attempt')
    from checkout.payments p
    left join (
      select merchant_id, payment_id, 'open attempt ' || string_agg(attempt_id::text, ', ') as ids
      from checkout.attempts where settled_at is null group by merchant_id, payment_id
    ) open on open.merchant_id = p.merchant_id and open.payment_id = p.payment_id
    where coalesce('open attempt ' || p.open_attempt_id, 'none') <> coalesce(open.ids, 'none')`,

  approval_is_kept_or_given_back: `
    select a.merchant_id || ' attempt ' || a.attempt_id || ' of payment ' || a.payment_id,
      case when kept then 'kept' else 'given back' end, coalesce('reversal ' || a.reversal, 'kept')
    from checkout.attempts a
    left join checkout.payments p on p.merchant_id = a.merchant_id and p.payment_id = a.payment_id
    cross join lateral (
      select coalesce(p.paid_attempt_id = a.attempt_id and (p.status <> 'canceled' or a.method = 'wallet'), false) as kept
    ) as state
    where a.status = 'approved' and kept <> (a.reversal is null)`,

  key_leads_to_its_object: `
    select k.merchant_id || ' key ' || k.key, k.call || ' of an existing object', 'no object ' || k.object_id
    from checkout.idempotency_keys k
    left join checkout.payments p on k.call in ('create_payment', 'cancel_payment')
      and p.merchant_id = k.merchant_id and p.payment_id = k.object_id
    left join checkout.refunds r on k.call = 'create_refund' and r.merchant_id = k.merchant_id and r.refund_id = k.object_id
    where k.call <> 'capture_payment' and p.payment_id is null and r.refund_id is null`,

  capture_has_its_key: `
    select p.merchant_id || ' payment ' || p.payment_id, 'a key of capture ' || p.capture_id, 'none'
    from checkout.payments p
    left join checkout.idempotency_keys k on k.call = 'capture_payment'
      and k.merchant_id = p.merchant_id and k.object_id = p.capture_id
    where p.capture_id is not null and k.key is null`,

  object_has_one_key: `
    select o.merchant_id || ' ' || o.type || ' ' || o.object_id, '1 key', coalesce(k.keys, 0) || ' keys'
    from (${objects}) o
    left join (
      select merchant_id, object_id, count(*) as keys from checkout.idempotency_keys
      where call in ('create_payment', 'create_refund') group by merchant_id, object_id
    ) k on k.merchant_id = o.merchant_id and k.object_id = o.object_id
    where coalesce(k.keys, 0) <> 1`,
};

export type Invariant = keyof typeof invariants;
