# Arc Lamp lines without a count of 1 to 10^12 are skipped and counted, as docs/arclamp.md says
strobe collect --from - --to "logs:$PWD/logs" --listen none 2>errors <<END
/srv/index.php;a 1
/srv/index.php;zero 0
/srv/index.php;below -1
/srv/index.php;half 1.5
/srv/index.php;none
/srv/index.php;large 1000000000001
/srv/index.php;b 1000000000000
END
echo "exit $?"
sed "s|$PWD|DIR|g" errors
cat logs/daily/*.all.log
