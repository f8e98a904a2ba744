-- Lists go by the key, newest first. What is rare among much would be looked for through the whole history of a merchant.
-- Each of these stands alone, so that writes to one table do not wait for the index of another.
create index payments_by_status on checkout.payments (merchant_id, status, payment_id);
