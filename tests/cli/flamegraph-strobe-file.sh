# a recorded file: messages are added up, places are kept, --column shows time as time
strobe flamegraph data/shop.strobe | svg-frames | cut -f 2,3,6
strobe flamegraph data/shop.strobe --column wall_ns -o a.svg -q
svg-frames a.svg | cut -f 2,3,6
grep -o '"places":[^]]*' a.svg
