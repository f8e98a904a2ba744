-- What became of one event is what somebody asks who misses it, and an endpoint makes millions of attempts in 30 days.
create index deliveries_of_event on webhooks.deliveries (event_id);
create index deliveries_failed on webhooks.deliveries (owner, endpoint_id, delivery_id) where result <> 'delivered';

-- What is left of an object whose first event was deleted alone is found again, to be sent or to be deleted.
update webhooks.queue q set due_at = q.queued_at
where q.due_at = 'infinity' and not exists (
  select from webhooks.queue earlier
  where earlier.owner = q.owner and earlier.endpoint_id = q.endpoint_id and earlier.object_id = q.object_id
    and earlier.sequence < q.sequence);
