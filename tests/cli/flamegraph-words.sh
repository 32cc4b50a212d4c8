# --countname and --nametype
strobe flamegraph data/blog.folded --countname 'calls <x>' --nametype 'Method:' --minwidth 20% -o a.svg -q
svg-frames a.svg | cut -f 6
grep -o '"countName":[^,]*,"nameType":[^,]*' a.svg
