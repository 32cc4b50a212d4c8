# names of any bytes give a picture that is well-formed, with the names in it
python3 - >names.folded <<'END'
import sys
out = sys.stdout.buffer
for b in range(256):
    if b not in b';\n':
        out.write(b'main;f' + bytes([b]) + b'g 5\n')
for name in [b'</text><script>x</script>', b'a&lt;b &#0; &amp; &x;', b']]>', b'"];}', b'\\', b'\\N\\E', b'\xe2\x80\xae rtl', b'{a|b}', b'x' * 70000]:
    out.write(b'main;' + name + b' 90\n')
END
strobe callgraph names.folded --seconds 60 --nodes 400 --threshold 0 -o names.svg
python3 - <<'END'
import xml.etree.ElementTree as xml
svg = xml.parse('names.svg').getroot()
ns = '{http://www.w3.org/2000/svg}'
print(svg.get('width'), svg.get('height'), bool(svg.get('viewBox')))
nodes = [g for g in svg.iter(ns + 'g') if (g.get('class') or '').split()[:1] == ['node']]
texts = [next(g.iter(ns + 'text')).text for g in nodes]
print(len(nodes), 'boxes,', len(svg.findall(ns + 'script')), 'script,', len(list(svg.iter(ns + 'script'))), 'in all')
for t in texts:
    if any(word in t for word in ['script', '&', ']]>', '"', '\\', 'rtl', '|', 'xxx']):
        print(repr(t))
END
