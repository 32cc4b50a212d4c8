# the help of files
strobe files --help
strobe help files | awk 'length > 80 { print "too long: " $0 }'
