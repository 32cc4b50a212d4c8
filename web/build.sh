#!/bin/bash
# Builds web/dist, which is committed, so that compiling Strobe needs no npm. Needs node 20.19 or newer, and npm.
# The same sources give the same bytes: tests/web/test_dist_is_current.py builds again and compares.
set -eu
cd "$(dirname "$0")"

if [ ! -d node_modules ] || [ package-lock.json -nt node_modules/.package-lock.json ]; then
	npm ci --no-audit --no-fund --loglevel=error
fi
npx --no-install tsc --noEmit
npx --no-install vite build --logLevel warn
npx --no-install vite build --config vite.picture.config.js --mode svg --logLevel warn
npx --no-install vite build --config vite.picture.config.js --mode svg-pairs --logLevel warn
npx --no-install vite build --config vite.picture.config.js --mode html --logLevel warn
npx --no-install vite build --config vite.picture.config.js --mode unpack --logLevel warn
cp src/icon.svg src/plain.css dist/
python3 source_hash.py > dist/SOURCE_HASH
