# Invalid options of strobe record are refused before it asks the kernel for anything.
try() { strobe record "$@"; echo "= $?" >&2; }
try --lang php -n
try --lang ruby
try --lang native -u
try --lang perl -u
try --lang perl --fpm
try -p 1 --fpm
try --cgroup /a -a
try --off-cpu --wall
try --off-cpu -F 99
try -F 0
try -F 12.5
try --idle
try --min 1ms
try -d 0
try -o x.unknown
try -o /nonexistent/x.svg
try -p x y
try --bytes
try --file-io --bytes --count
try --file-io --off-cpu
try --file-io -k
try --file-io -F 99
try --file-io --idle
try --distr
try --file-io --distr -q
