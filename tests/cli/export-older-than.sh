# --older-than counts whole days as find's -mtime +DAYS does; parts of a day are exact, 0 is all
mkdir -p logs/daily
for hours in 2 30 60 170 180 191 193 216; do
	echo "a $hours" > logs/daily/2026-11-20.h$hours.log
	touch -d "$hours hours ago" logs/daily/2026-11-20.h$hours.log
done
for days in 7 2; do
	rm -rf copy; cp -a logs copy
	(cd copy/daily && find . -name '*.log' -mtime +$days | sed 's/$/.gz/' | sort) > wanted
	strobe export compress -q --logs copy --older-than $days
	(cd copy/daily && find . -name '*.gz' | sort) | cmp - wanted && wc -l < wanted
done
for days in 1.5 0; do
	rm -rf copy; cp -a logs copy
	strobe export compress -q --logs copy --older-than $days
	ls copy/daily | grep -c gz
done
