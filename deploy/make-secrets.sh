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
# The container's user is not the one who runs this.
chmod 755 secrets && chmod 644 secrets/*
echo "secrets are in $(pwd)/secrets; keep them out of version control"
