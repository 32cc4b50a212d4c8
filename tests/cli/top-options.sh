# Invalid options of strobe top are refused before it asks the kernel for anything.
try() { strobe top "$@"; echo "= $?" >&2; }
try x
try -p 1 --fpm
try --lang ruby
try --lang php -n
try --on-cpu --off-cpu
try --off-cpu -F 99
try -F 0
try --on-cpu --idle
try --on-cpu --min 1ms
try --by line
try --sort size
try --on-cpu --sort off
try --off-cpu --sort self
try --filter '('
try --window 0
try --every soon
try --rows -1
try --json --plain
try -d 0
