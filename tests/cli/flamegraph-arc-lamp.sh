# the calls of Arc Lamp, unchanged: input from a pipe, picture to a pipe, compressed by gzip -9
cat data/blog.folded | strobe flamegraph --fonttype=ui-monospace,monospace --fontsize=11 --minwidth=1 \
	--title='2026-11-20 - load' | gzip -9 >forward.svgz
cat data/blog.folded | strobe flamegraph --fonttype=ui-monospace,monospace --fontsize=11 --minwidth=1 \
	--title='2026-11-20 - load' --reverse --colors=blue | gzip -9 >reversed.svgz
for f in forward reversed; do
	gzip -dc $f.svgz >$f.svg
	svg-outline $f.svg | grep -E 'svg|title'
	svg-frames $f.svg | tail -n 3
done
