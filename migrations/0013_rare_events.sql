-- There are several events for each payment, and most are of these types, of which a page is soon full.
create index events_rare on checkout.events (merchant_id, event_id)
  where type not in ('payment.created', 'payment.updated', 'payment.succeeded');
