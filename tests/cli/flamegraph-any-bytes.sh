# names, titles and notes of all 256 byte values give well-formed pictures
python3 - <<'PY'
everything = bytes(b for b in range(256) if b not in b'\n;')
with open('any.folded', 'wb') as f:
    f.write(b'all;' + everything + b';x 3\n')
    for b in range(256):
        if b not in b'\n;':
            f.write(b'one;' + bytes([b]) + b'z 2\n')
    f.write(b']]>;</script>;<![CDATA[;&amp;;"\'\\;\xed\xa0\x80;\xef\xbf\xbe;\xf4\x90\x80\x80;\xc0\x80 5\n')
    f.write('\u00e9\u20ac\U0001d11e;\u2028 4\n'.encode())
    f.write(b'long;' + b'\xe2\x82' * 30000 + b' 3\n')
PY
strobe flamegraph any.folded >a.svg
xmllint --noout --huge a.svg && echo well-formed
svg-frames a.svg | cut -c 1-300
strobe flamegraph any.folded --reverse --inverted --hash | xmllint --noout --huge - && echo well-formed
strobe flamegraph data/blog.folded --title "$(printf '\001\377<\303')" --notes "$(printf ']]>\033--><!--')" \
	--subtitle "$(printf '\302\200&')" --countname '"<>' --nametype '</script>' --fonttype "'\"<&" >b.svg
xmllint --noout b.svg && echo well-formed
for name in a.svg b.svg; do
	echo "$name $(svg-boxes $name | wc -l) lines"
done
