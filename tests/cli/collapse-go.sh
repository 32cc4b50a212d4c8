# what go tool pprof -raw prints: counts by default, any other value by name, functions that others were inlined into
strobe collapse data/queue.go
strobe collapse data/queue.go --column cpu_ns
strobe collapse data/queue.go --inline | grep Parser
