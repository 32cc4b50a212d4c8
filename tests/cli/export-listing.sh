# the index includes logs that only an object store has: Swift's listings by period or complete, S3's, our own; each file once
mkdir -p logs/daily svgs/daily
printf 'a 1\n' > logs/daily/2026-11-20.all.log
printf x > svgs/daily/2026-11-20.all.svgz
touch -d 2026-11-21T08:00Z logs/daily/* svgs/daily/*
cat > daily.json <<'END'
[{"hash":"a1","last_modified":"2026-11-01T07:00:01.123450","bytes":71,"name":"2026-10-31.all.svgz","content_type":"image/svg+xml"},
{"hash":"a2","last_modified":"2026-11-01T07:00:02.000000","bytes":72,"name":"2026-10-31.excimer.index.reversed.svgz"},
{"hash":"a3","last_modified":"2026-11-21T08:00:00.000000","bytes":1,"name":"2026-11-20.all.svgz"},
{"hash":"a4","last_modified":"2026-11-21T08:00:00.000000","bytes":1,"name":"README"}]
END
cat > all.json <<'END'
[{"bytes":9,"name":"logs/hourly/2026-10-31_07.api.log.gz","last_modified":"2026-11-01T00:00:00"},{"subdir":"svgs/"},
{"bytes":4,"name":"daily/2026-11-20.all.log"}]
END
echo '{"Contents":[{"Key":"svgs/weekly/2026-44.all.fn-Edit.svgz","Size":5,"LastModified":"2026-11-02T00:00:00+00:00"}]}' > s3.json
echo '{"Contents":3}' > bad.json
strobe export index --logs logs --listing daily=daily.json --listing all.json --listing s3.json; echo "exit $?"
strobe export index --logs logs -o index.json
strobe export index --logs logs --listing index.json | cmp - index.json && echo same
strobe export index --logs logs --listing bad.json; echo "exit $?"
strobe export index --logs logs --listing none.json; echo "exit $?"
strobe export svgs --logs logs --listing all.json; echo "exit $?"
