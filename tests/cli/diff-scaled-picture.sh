# pictures of a scaled difference have the numbers and the shares of the table, however small the scale is
printf 'main;hot 999000\nmain;small 4400\nmain;k;small 3300\n' >many
printf 'main;hot 380\nmain;small 20\n' >few
strobe diff many few --all 2>/dev/null | sed 1,4d
strobe diff many few -o d.svg 2>/dev/null
grep -o '<title>[^<]*' d.svg
grep -o '"sides":"[^"]*","scale":[0-9.e-]*' d.svg
