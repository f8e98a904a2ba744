-- An endpoint that is enabled again takes up its queue in small steps, because one statement over a long queue would run
-- into its time limit, and the endpoint could never be enabled.
alter table webhooks.endpoints
  add column enabled_at timestamptz,         -- what was queued before counts as queued then
  add column restart_after uuid;             -- the objects up to this one have been taken up; null when all have

-- Of the events of one object at one endpoint only the first is due; those behind it are not even looked at.
update webhooks.queue q set due_at = 'infinity'
where q.due_at < 'infinity' and q.lease_until is null and exists (
  select from webhooks.queue earlier
  where earlier.owner = q.owner and earlier.endpoint_id = q.endpoint_id and earlier.object_id = q.object_id
    and earlier.sequence < q.sequence);
