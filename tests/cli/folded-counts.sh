# folded text with counts of any kind, and the line that is wrong by its number
echo "fractions, zero, CRLF, no newline at the end:"
printf 'a;b 1.5\r\na;c 1.5\r\na;d 0\r\na 4' | strobe collapse -
echo "below zero:"
printf 'a;b 7\na;c -2\n' | strobe collapse -
echo "the largest, twice:"
printf 'a;b 9223372036854775807\na;b 9223372036854775807\n' | strobe collapse -
echo "too large:"
printf 'a;b 1\na;c 9223372036854775808\n' | strobe collapse -
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
