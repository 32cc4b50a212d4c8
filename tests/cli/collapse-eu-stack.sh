# stacks of eu-stack, recorded three times of a program with three threads; processes and threads on request
strobe collapse data/ledger.eu-stack
strobe collapse --tid data/ledger.eu-stack | cut -c1-60
strobe collapse --pid --tid data/ledger.eu-stack | cut -c1-60
