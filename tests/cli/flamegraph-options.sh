# --total, --factor, --random, --encoding and --flamechart without --compat
strobe flamegraph data/blog.folded --total 5000 --minwidth 10% | svg-frames | cut -f 2,3,6
strobe flamegraph data/blog.folded --factor 1000 --minwidth 20% -o a.svg -q
svg-frames a.svg | cut -f 2,3,6
svg-boxes a.svg | sed -n '1,2p;$p'
strobe flamegraph data/blog.folded --factor 0
strobe flamegraph data/blog.folded --random >a.svg
strobe flamegraph data/blog.folded --random >b.svg
cmp -s a.svg b.svg || echo differs
svg-frames a.svg | cut -f 1-4,6- >a
strobe flamegraph data/blog.folded | svg-frames | cut -f 1-4,6- | cmp - a && echo 'only in colors'
printf 'a\303\251;b 2\n' | strobe flamegraph --encoding ISO-8859-1 - >a.svg
head -n 1 a.svg
grep -o '<title>[^<]*' a.svg
LC_ALL=C grep -c '[^ -~	]' a.svg
strobe flamegraph data/blog.folded --encoding UTF-16
printf 'b 1\r\na;x 2\r\nb 3\r\nb 1' | strobe flamegraph --flamechart - >a.svg
svg-frames a.svg
svg-outline a.svg | grep title
strobe flamegraph --total 10 data/blog.folded --also reverse:r.svg | svg-frames | head -1
