# stacks of SystemTap: names without addresses, offsets and files; a truncated last stack is reported
strobe collapse data/worker.bt
gzip -c data/worker.bt | strobe collapse --from stap | head -1
{ cat data/worker.bt; echo ' 0x1 : cut_off+0x1/0x2 [kernel]'; } | strobe collapse | head -1
