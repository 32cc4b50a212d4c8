# the help of annotate
strobe annotate --help
strobe help annotate | awk 'length > 80 { print "too long: " $0 }'
