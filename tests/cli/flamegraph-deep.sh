# a stack of 20,000 frames is cut at a height that viewers can show, with a note
python3 -c 'print(";".join(f"f{i}" for i in range(20000)), 7)' >deep.folded
strobe flamegraph deep.folded -o a.svg
svg-frames a.svg | wc -l
svg-outline a.svg | grep -E "^svg|details"
strobe flamegraph deep.folded --reverse | svg-frames | tail -n 3
