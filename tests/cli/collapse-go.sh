# output of go tool pprof -raw: counts by default, any other value by name, functions with others inlined
strobe collapse data/queue.go
strobe collapse data/queue.go --column cpu_ns
strobe collapse data/queue.go --inline | grep Parser
