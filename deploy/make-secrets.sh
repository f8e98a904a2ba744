#!/bin/sh
# Makes the secrets that compose.yaml reads, once: what is there stays as it is.
set -eu
cd "$(dirname "$0")"
umask 077
mkdir -p secrets
random() { od -An -N32 -tx1 /dev/urandom | tr -d ' \n'; }
[ -s secrets/keys_secret ] || random > secrets/keys_secret
if [ ! -s secrets/database_password ]; then
  random > secrets/database_password
  printf 'postgres://tollgate:%s@database:5432/tollgate' "$(cat secrets/database_password)" > secrets/database_url
fi
# For the container's user, which is 1000, and for nobody else on this machine; the database's container reads as root.
chmod 755 secrets
if [ "$(id -u)" = 0 ]; then
  chown 1000 secrets/* && chmod 400 secrets/*
else
  chmod 600 secrets/* 2>/dev/null || :
  [ "$(id -u)" = 1000 ] || echo "with Docker on Linux the container's user has to own them: sudo chown 1000 $(pwd)/secrets/*"
fi
echo "secrets are in $(pwd)/secrets; keep them out of version control"
