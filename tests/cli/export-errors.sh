# each failure of export has its sentence and exit code
try() { strobe export "$@"; echo "exit $?"; }
try
try svg
try everything
try svgs compress
try svgs --logs nowhere
try svgs --logs data
try svgs --logs data --svgs ''
try compress --logs nowhere
try index --logs nowhere
try svgs --older-than 3
try compress --fn a=b
try index --upload true
try svgs -o x
try svgs --logs logs --fn a/b=c
try svgs --logs logs --fn ab
try svgs --logs logs --fn a=b --fn a=c
try svgs --logs logs --fn a=b --no-fn
try svgs --logs logs --minwidth x
try svgs --logs logs --jobs 1000
try svgs --logs logs --memory 4096
try svgs --logs logs --memory much
try svgs --logs logs --watch 0
try svgs --logs logs --watch often
try svgs --logs logs --upload-timeout 2d
try svgs --logs logs --upload "no-such-program {}"
try svgs --logs logs --upload "true '"
mkdir none; try index --logs none
try index --logs data --arclamp x
try index --arclamp nowhere.yaml
echo 'base_path: [x]' >bad.yaml
try index --arclamp bad.yaml
mkdir -p logs/daily
printf 'garbage\n' >logs/daily/2026-11-20.bad.log
printf 'a 1\ngarbage\nb;c 2\n' >logs/daily/2026-11-20.half.log
printf 'damaged\n' | gzip -c | head -c 15 >logs/daily/2026-11-20.cut.log.gz
touch -d 2026-11-20T08:00 logs/daily/*
try svgs --logs logs -j1; ls svgs/daily
try svgs --logs logs -j1 --upload false; try svgs --logs logs -j1 -q
echo x >svgs-file
try svgs --logs logs --svgs svgs-file
