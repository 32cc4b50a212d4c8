# head and foot of the document around the frames
strobe flamegraph data/blog.folded --title 'Blog <1>' --subtitle 'Tuesday & "Wednesday"' --notes 'kept ]]> </desc>' |
	svg-outline
