# events are not added up: the first counts unless another is asked for, and what is left out is told
strobe collapse data/words-events.perf
strobe collapse --event-filter cpu-clock/period=8000000/u data/words-events.perf
strobe collapse --event-filter cycles data/words-events.perf || echo "exit $?"
