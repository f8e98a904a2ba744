-- What a merchant's payment page looks like.

alter table checkout.merchants
  add column logo text check (logo ~ '^data:image/(png|jpeg|webp);base64,[A-Za-z0-9+/]+={0,2}$' and length(logo) <= 22000),
  add column accent text check (accent ~ '^#[0-9a-f]{6}$');
