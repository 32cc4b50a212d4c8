# traces of Xdebug: microseconds, calls of functions that call none, or what else the trace has
strobe collapse data/shop.xt
strobe collapse --calls data/shop.xt
strobe collapse --column calls data/shop.xt
strobe collapse --column memory_bytes data/shop.xt
head -12 data/shop.xt | strobe collapse
strobe report data/shop.xt
