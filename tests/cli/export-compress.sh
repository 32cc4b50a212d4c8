# old logs are sorted and compressed, and keep their time and lines; recent logs stay, leftovers of interrupted runs are cleaned up
show() { (cd logs && find . -type f -name '2026*' -printf '%P %TY-%Tm-%Td %TH:%TM\n' | LC_ALL=C sort); }
mkdir -p logs/daily
printf 'b;c 1\na;b 1\nb;c 1\nB 1\n\377 1\nlast 1' >logs/daily/2026-11-01.all.log
cp logs/daily/2026-11-01.all.log logs/daily/2026-11-02.all.log
cp logs/daily/2026-11-01.all.log logs/daily/2026-11-03.all.log
printf 'z 1\n' | gzip -n >logs/daily/2026-11-02.all.log.gz
cp logs/daily/2026-11-01.all.log.gz logs/daily/2026-11-03.all.log.gz 2>/dev/null || echo damaged >logs/daily/2026-11-03.all.log.gz
echo half >logs/daily/2026-11-01.all.log.gz.tmp
touch -d 2026-11-01T10:00 logs/daily/*
touch -d 2026-10-01T10:00 logs/daily/2026-11-02.all.log.gz
chmod 640 logs/daily/2026-11-01.all.log
cp logs/daily/2026-11-01.all.log logs/daily/2026-11-21.all.log
touch -d '-30 minutes' logs/daily/2026-11-21.all.log
strobe export compress --logs logs --older-than 0; ls logs/daily
for f in logs/daily/*-0*.gz; do
	find $f -printf '%f %m %TY-%Tm-%Td %TH:%TM\n'
	gzip -dc $f
done
gzip -lN logs/daily/2026-11-01.all.log.gz | awk 'NR == 2 { print $4 }'
echo '--- again' >&2
strobe export compress --logs logs
echo '--- by zstd, with a command' >&2
touch -d 2026-11-01T10:00 logs/daily/2026-11-21.all.log
strobe export compress --logs logs --zstd --upload 'sh -c "echo hands on {}; exit 3"'; echo "exit $?"; ls logs/daily | tail -n 2
strobe export compress --logs logs --zstd --upload 'cp {} out.zst' -q; echo "exit $?"; ls logs/daily | tail -n 1
cmp out.zst logs/daily/2026-11-21.all.log.zst && zstd -dcq out.zst | LC_ALL=C sort -c && echo sorted
echo '--- written to meanwhile' >&2
printf 'old 1\n' >logs/daily/2026-11-10.all.log
touch -d 2026-11-01T10:00 logs/daily/2026-11-10.all.log
strobe export compress --logs logs --upload 'sh -c "echo late 1 >>logs/daily/2026-11-10.all.log"'; echo "exit $?"
ls logs/daily | grep 11-10; cat logs/daily/2026-11-10.all.log
