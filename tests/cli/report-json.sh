# --json has plain numbers, places, and any bytes made fit
strobe report --json -n 3 data/shop.strobe | python3 -m json.tool
python3 -c 'import sys; sys.stdout.buffer.write(b"a;</script>\xff\x01\"\\ 3\n")' | strobe report --json -
printf 'a;b 0\n' | strobe report --json -
echo "exit $?"
