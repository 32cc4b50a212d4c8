# stacks of DTrace: offsets and arguments of C++ functions are cut off, three lines are a header
strobe collapse data/shop.dtrace
tail -n +4 data/shop.dtrace | strobe collapse | head -2
