# traces of Xdebug: microseconds, calls of leaf functions, or the other values of the trace
strobe collapse data/shop.xt
strobe collapse --calls data/shop.xt
strobe collapse --column calls data/shop.xt
strobe collapse --column memory_bytes data/shop.xt
head -12 data/shop.xt | strobe collapse
strobe report data/shop.xt
