# the help of record
strobe record --help
strobe help record | awk 'length > 80 { print "too long: " $0 }'
