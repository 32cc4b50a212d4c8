# Invalid options of strobe files are refused before it asks the kernel for anything.
try() { strobe files "$@"; echo "= $?" >&2; }
try -p 1 --fpm
try --bytes --count
try -n -1
try -d 0
try x
