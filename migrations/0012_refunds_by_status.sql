create index refunds_by_status on checkout.refunds (merchant_id, status, refund_id);
