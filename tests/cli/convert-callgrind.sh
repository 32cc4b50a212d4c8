# callgrind: functions and their calls, with recursion by level; self values survive the round trip
strobe convert data/cart.xhprof -o callgrind.out.cart && sed "s/strobe-[0-9.]*/strobe-VERSION/" callgrind.out.cart
printf 'a 1\na;b 2\na;b;a 4\na;b;a;b 8\n' >recursion.folded
strobe convert recursion.folded -f callgrind | strobe collapse | cmp - recursion.folded && echo 'recursion comes back'
strobe convert data/shop.strobe -f callgrind | sed -n "s/strobe-[0-9.]*/strobe-VERSION/; 1,12p"
printf 'events: Ir\nfn=main\n1 10\ncfn=a\ncalls=1 1\n1 90\nfn=a\n1 30\ncfn=b\ncalls=2 1\n1 60\nfn=b\n1 60\ncfn=a\ncalls=1 1\n1 25\n' >circle
strobe collapse circle
printf 'events: Ir\nfn=(2)\n' | strobe collapse; echo "exit $?"
