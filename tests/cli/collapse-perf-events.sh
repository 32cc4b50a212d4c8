# only one event is counted, the first by default; skipped events are reported
strobe collapse data/words-events.perf
strobe collapse --event-filter cpu-clock/period=8000000/u data/words-events.perf
strobe collapse --event-filter cycles data/words-events.perf || echo "exit $?"
