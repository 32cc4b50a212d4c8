# index and metrics of a tree, also into files
mkdir -p logs/daily svgs/daily
printf 'a;b 1\n' >logs/daily/2026-11-20.excimer.index.log
printf 'a;b 1\n' >logs/daily/2026-11-19.all.log.gz
touch -d 2026-11-20T08:00 logs/daily/*
strobe export svgs --logs logs -q --no-fn; touch -d 2026-11-20T09:00 svgs/daily/*
strobe export index --logs logs -o index.json && sed 's/"bytes":[0-9]*/"bytes":N/' index.json
strobe export metrics --logs logs -o metrics && sed 's/\(svg_bytes.*} \).*/\1N/; s/\(temporary_file_seconds \)[0-9.]\+/\1N/' metrics
printf 'base_path: logs\nlogs:\n  - { period: daily, format: "%%Y-%%m-%%d", retain: 45 }\n' >arclamp-log.yaml
strobe export index --arclamp arclamp-log.yaml | sed 's/"bytes":[0-9]*/"bytes":N/' | wc -l
strobe grep --arclamp arclamp-log.yaml --lowercase
