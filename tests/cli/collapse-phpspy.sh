# traces of phpspy; the file tells two scripts apart in tables, and functions by file
strobe collapse data/shop.phpspy
{ echo 'Failed to copy zfunc; Bad address'; cat data/shop.phpspy; } | strobe collapse --from phpspy | head -1
