# a log beside its compressed form counts once: after failures, kills and appended lines, and beside other forms
D=logs/daily/2026-11-01.all.log
count() { echo "$1: $(cd logs/daily && echo *)"; strobe grep --logs logs --slice=: --json | jq -c '[.functions[] | {(.function): .samples}] | add'; }
old() { touch -d "2026-11-0$1T10:00" $D; }
compress() { strobe export compress -q --logs logs "$@"; echo "exit $?"; }
mkdir -p logs/daily
printf 'A 1\nB 1\nA 1\n' >$D; old 1
compress --upload 'false {}'
count 'handed on in vain'
compress --upload 'sh -c "kill -9 $PPID"'
count 'killed while it is handed on'
strobe export svgs -q --redraw --logs logs && gzip -dc svgs/daily/2026-11-01.all.svgz | grep -o '<title>all ([^)]*)'
printf 'late 1\nC 1\n' >>$D; old 2
count 'lines were added'
strobe export svgs -q --redraw --logs logs && gzip -dc svgs/daily/2026-11-01.all.svgz | grep -o '<title>all ([^)]*)'
compress --upload 'sh -c "kill -9 $PPID"'
count 'killed again'
compress --zstd --upload 'false {}'
count 'in vain with the other kind, which has the first in it'
cp -p $D.gz kept.gz
printf 'E 1\n' >>$D; old 3
count 'lines were added to the log beside both'
rm $D.gz
count 'killed when the first was removed'
cp -p kept.gz $D.gz; rm $D
count 'were the log removed before the first'
printf 'A 1\nF 1\n' >$D; old 4
count 'a log that was begun anew'
compress --upload 'false {}'
count 'in vain'
printf 'G 1\n' >>$D; old 5
compress
count 'done'
gzip -dc $D.gz
