# folded text with counts of any kind, and an error with the number of the invalid line
echo "fractions, zero, CRLF, no newline at the end:"
printf 'a;b 1.5\r\na;c 1.5\r\na;d 0\r\na 4' | strobe collapse -
echo "below zero:"
printf 'a;b 7\na;c -2\n' | strobe collapse -
echo "the largest, twice:"
printf 'a;b 9223372036854775807\na;b 9223372036854775807\n' | strobe collapse -
echo "too large:"
printf 'a;b 1\na;c 9223372036854775808\n' | strobe collapse -
echo "too large, and nothing else:"
printf 'a;b 99999999999999999999\n' | strobe collapse - || echo "exit code $?"
printf 'a;b 99999999999999999999\na;c 99999999999999999999\n 3\n' | strobe collapse - || echo "exit code $?"
echo "no count:"
printf '\r\na;b 1e400\r\na;c nan\n' | strobe collapse - || echo "exit code $?"
echo "parts of a count, then whole ones, then a profile of another format:"
printf 'a;b 0.1\na;b .2\na;b 0.2\na;c 3\n' >parts
printf 'a;b 2\na;c 0.0000005\na;c 0.0000005\n' >whole
printf '\n@[\n    b\n    a\n]: 7\n' >map.bt
strobe collapse parts whole map.bt
strobe collapse map.bt parts
strobe collapse --recursive parts
printf 'a;b 0.25 1.5\na;c 1 0\n' | strobe collapse --column before -
echo "10,000 frames:"
stack=$(seq -s ';' 10000)
printf '%s 3\n%s;leaf 4' "$stack" "$stack" | strobe collapse - | wc -lc
echo "a difference, of which it writes what is after:"
printf 'a;b 10 12\na;gone 5 0\na;new 0 3.0\n' >difference
strobe collapse difference
strobe collapse difference --column before
echo "no difference, because of the last line:"
printf 'a;php 8 12\na;php 7 3\na;b 1\n' | strobe collapse -
echo "a difference with a count too large:"
printf 'a;b 10 12\na;b 99999999999999999999 12\n' | strobe collapse -
