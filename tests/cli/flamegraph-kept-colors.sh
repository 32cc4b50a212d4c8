# --cp: functions keep their colors in palette.map; a name with an arrow keeps it too, unless --compat
printf 'index.php->rgb(1,2,3)\nA->b->rgb(4,5,6)\nunused->rgb(7,8,9)\n' >palette.map
printf 'index.php;A->b 3\nindex.php;c 4\n' >a.folded
strobe flamegraph --cp a.folded | svg-frames | cut -f 5,6
cat palette.map
strobe flamegraph --cp --compat a.folded | svg-frames | cut -f 5,6
cat palette.map
printf 'nothing\n' >>palette.map
strobe flamegraph --cp --hash a.folded | svg-frames | cut -f 5,6
