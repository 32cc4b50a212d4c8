# --compat: the frames of flamegraph.pl, one by one, for each of its options
cat >lines.folded <<'END'
main;parse;read 31.5
main;parse 12
main;parse;lex.c:7;next 8
main.old;x 3
main;run;a b;java/lang/String:::hash_[j] 20
main;run;mod`sub;std::sort 15
main;run;--;[unknown]_[k] 6
main;run;-;été<T>&"x"_[i] 9
main;parse;read 0.25
main;no count
END
frames() {
	echo "== $*"
	strobe flamegraph --compat -q "$@" lines.folded | svg-frames
}
frames 2>/dev/null
frames --hash --reverse --minwidth 4% 2>/dev/null
frames --inverted --subtitle s --minwidth=100 2>/dev/null
frames --flamechart --minwidth 200 2>/dev/null
frames --colors java --minwidth 150 2>/dev/null
frames --colors=chain --minwidth 60 2>/dev/null
frames --countname 'µs' --factor 2.5 --total 200 --minwidth 150 2>/dev/null
frames --width=600 --height 20 --fontsize=9.5 --fontwidth .5 --minwidth 150 2>/dev/null
strobe flamegraph --compat lines.folded >/dev/null
