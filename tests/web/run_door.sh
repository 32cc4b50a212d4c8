#!/bin/sh
# Runs test_door.mjs where node is there: run_door.sh TEST-SERVER
command -v node >/dev/null || {
	echo "skip - who gets in: node is not installed"
	exit 0
}
exec node "$(dirname "$0")/test_door.mjs" "$1"
