#!/bin/sh
# Runs a program of this directory with its npm packages, which the lock names: run.sh CACHE PROGRAM ARGUMENTS. They are installed into
# CACHE once. PROTO names the descriptors that protoc makes of the .proto files, in CACHE. If one is missing, it is named, with status 77.
set -u
here=$(cd "$(dirname "$0")" && pwd)
cache=$1 program=$2
shift 2

lack() {
	echo "$1" >&2
	exit 77
}

command -v node >/dev/null || lack 'node is not installed'
[ "$(node -p 'Number(process.versions.node.split(".")[0]) >= 20')" = true ] || lack 'node is older than 20'
command -v protoc >/dev/null || lack 'protoc is not installed'
mkdir -p "$cache"
exec 9>"$cache/lock"
! command -v flock >/dev/null || flock 9
if ! cmp -s "$here/package-lock.json" "$cache/package-lock.json" || [ ! -f "$cache/done" ]; then
	command -v npm >/dev/null || lack 'npm is not installed'
	rm -f "$cache/done"
	cp "$here/package.json" "$here/package-lock.json" "$cache/"
	(cd "$cache" && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error >"$cache/npm.log" 2>&1) ||
		lack "npm could not install the clients: $(grep -m1 -i error "$cache/npm.log" | cut -c1-120)"
	touch "$cache/done"
fi
protoc -I "$here" --include_imports --descriptor_set_out="$cache/descriptors" "$here"/*.proto || exit 1
exec 9>&-
NODE_MODULES=$cache/node_modules PROTO=$cache/descriptors exec node "$here/$program" "$@"
