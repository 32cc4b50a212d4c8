# maps of bpftrace, as text and as JSON, in their order: other parts of the key become the root
strobe collapse data/shop.bpftrace
strobe collapse data/shop.bpftrace.json
printf '@[\n    read+1\n]: \n[1, 2)  3 |@@@|\n\n@[\n    write+1\n]: 2\n' | strobe collapse
strobe collapse data/shop.bpftrace data/shop.phpspy
