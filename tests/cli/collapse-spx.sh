# full reports of SPX: the events, or the .json beside them; in the long form and the short one of later versions
strobe collapse data/spx/shop.txt
strobe collapse data/spx/shop.json --column calls
strobe collapse data/spx/short.txt
gzip -c data/spx/shop.txt | strobe collapse --column memory_bytes
strobe collapse - <data/spx/shop.json
