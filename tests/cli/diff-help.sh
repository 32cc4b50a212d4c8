# the help of diff
strobe diff --help
strobe help diff | awk 'length > 80 { print "too long: " $0 }'
