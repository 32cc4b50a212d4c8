# input that is not perf script output
printf 'php 12 1.5: cycles:\n\t7f01 main (/usr/bin/php)\nwhat is this\n\n' | strobe collapse
echo "exit $?"
printf 'nothing of perf\n' | strobe collapse --from perf
echo "exit $?"
printf 'php 12 1.5: PERF_RECORD_COMM: php:12/12\nphp 12 1.6: PERF_RECORD_EXIT(12:12):(1:1)\n' | strobe collapse --from perf
echo "exit $?"
