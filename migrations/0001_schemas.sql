-- The two areas live in schemas of their own; no foreign key crosses between them.
create schema identity;
create schema checkout;
