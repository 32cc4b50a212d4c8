#!/bin/sh
# Runs the browser tests: run_page.sh TEST.mjs PROGRAM CACHE. They need node, Chromium, and two npm packages (the lock of
# web/ says which), which are taken from web/node_modules or installed into CACHE. If one is missing, the tests are skipped.
set -u
here=$(cd "$(dirname "$0")" && pwd)
web=$here/../../web
cache=$3

skip() {
	echo "skip - the page in a browser: $1"
	exit 0
}

command -v node >/dev/null || skip "node is not installed"
[ "$(node -p 'Number(process.versions.node.split(".")[0]) >= 18')" = true ] || skip "node is older than 18"
# The shell takes a third less time than the browser with its windows.
for name in chromium-headless-shell chromium chromium-browser google-chrome; do
	CHROMIUM=${CHROMIUM:-$(command -v $name || true)}
done
[ -n "$CHROMIUM" ] || skip "chromium is not installed"
export CHROMIUM

modules=$web/node_modules
if [ ! -d "$modules/puppeteer-core" ] || [ ! -d "$modules/axe-core" ]; then
	modules=$cache/node_modules
	mkdir -p "$cache"
	# Several tests may come here at a time.
	exec 9>"$cache/lock"
	! command -v flock >/dev/null || flock 9
	if [ ! -d "$modules/puppeteer-core" ] || ! cmp -s "$web/package-lock.json" "$cache/package-lock.json"; then
		command -v npm >/dev/null || skip "npm is not installed"
		cp "$web/package.json" "$web/package-lock.json" "$cache/"
		(cd "$cache" && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error >"$cache/npm.log" 2>&1) ||
			skip "npm could not install puppeteer-core: $(grep -m1 -i error "$cache/npm.log" | cut -c1-120)"
	fi
	exec 9>&-
fi
NODE_MODULES=$modules exec node "$here/$1" "$2"
