# arclamp-log's configuration file: its tree is written, by --arclamp and by -c, from its Redis or from --from
cat >arclamp-log.yaml <<'END'
base_path: logs
redis:
  host: redis.example
logs:
  - period: hourly
    format: '%Y-%m-%d_%H'
    retain: 2
  - period: daily
    format: '%Y-%m-%d'
    retain: 2
    sample_pop: 2
END
sed -i "s|base_path: logs|base_path: $PWD/logs|" arclamp-log.yaml
try() {
	strobe collect --listen none "$@" 2>errors
	echo "exit $?"
	sed "s|$PWD|DIR|g" errors
}
lines() {
	printf '/srv/shop/index.php;main;a 1\n/srv/shop/wp-cron.php;b 1\nindex.php;c 1\n../../x;d 1\n'
}
lines | try --arclamp arclamp-log.yaml --from -
lines | try -c arclamp-log.yaml --from - --to "sqlite:$PWD/store"
find logs -name '*.log' | sed 's/[0-9][0-9-]*[0-9_]*/TIME/' | LC_ALL=C sort -u
cat logs/hourly/*.index.log
cat logs/daily/*.all.log | wc -l
echo '# what is wrong with such a file'
echo 'logs: [{period: ../up, format: x}]' >bad.yaml
try --arclamp bad.yaml --from -
printf 'base_path: %s\nredis: {host: h, ssl: true, ssl_cert_reqs: some}\nlogs: [{period: hourly, format: "%%H", retain: 1}]\n' "$PWD/l" >tls.yaml
try --arclamp tls.yaml
lines | try --arclamp tls.yaml --from -
try --arclamp missing.yaml
