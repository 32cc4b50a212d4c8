# half the samples of the same program: no function changes, and none is new
for i in $(seq 1000); do echo "main;k$i;f 1"; echo "main;k$i;h 1"; done >before
for i in $(seq 1 2 1000); do echo "main;k$i;f 1"; echo "main;k$i;h 1"; done >after
strobe diff before after --all --rows 0 | grep -E ' (f|h)$'
printf 'main;hot 999000\nmain;small 400\nmain;small2 300\nmain;small3 300\n' >many
printf 'main;hot 380\nmain;small 20\n' >few
strobe diff many few --all
