#!/bin/sh
# Runs the tests of profiles that others send: run_ingest.sh PROGRAM CACHE. They need node and the packages of package-lock.json,
# which are installed into CACHE. If one is missing, the tests are skipped.
set -u
here=$(cd "$(dirname "$0")" && pwd)
cache=$2

skip() {
	echo "skip - profiles that others send: $1"
	exit 0
}

command -v node >/dev/null || skip "node is not installed"
[ "$(node -p 'Number(process.versions.node.split(".")[0]) >= 20')" = true ] || skip "node is older than 20"
mkdir -p "$cache"
if [ ! -d "$cache/node_modules/protobufjs" ] || ! cmp -s "$here/package-lock.json" "$cache/package-lock.json"; then
	command -v npm >/dev/null || skip "npm is not installed"
	cp "$here/package.json" "$here/package-lock.json" "$cache/"
	(cd "$cache" && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error >"$cache/npm.log" 2>&1) ||
		skip "npm could not install protobufjs: $(grep -m1 -i error "$cache/npm.log" | cut -c1-120)"
fi
NODE_MODULES=$cache/node_modules exec node "$here/test_ingest.mjs" "$1"
