# .html: one page with a still picture, its script named by hash in its own policy, and nothing fetched
printf 'main;a 3\nmain;b </script><script>alert(1) 4\n' > a.folded
strobe flamegraph a.folded -o a.html --title '</title>&' --subtitle '<b>'
strobe flamegraph a.folded -o again.html --title '</title>&' --subtitle '<b>' -q
cmp a.html again.html
python3 - <<'PY'
import base64, hashlib, json, re, struct, zlib
page = open('a.html', encoding='utf-8').read()
scripts = re.findall(r'<script([^>]*)>(.*?)</script>', page, re.S)
print([attributes for attributes, _ in scripts])
digest = base64.b64encode(hashlib.sha256(scripts[-1][1].encode()).digest()).decode()
print(re.search(r"script-src 'sha256-([^']*)'", page).group(1) == digest)
print(json.loads(scripts[0][1])['countName'])
boxes = zlib.decompress(base64.b64decode(scripts[1][1]))
print(boxes[:4], 'nodes, depths, columns:', *struct.unpack_from('<III', boxes, 8))
print(re.findall(r'<(?:title|h1|p)>.*?</(?:title|h1|p)>', page)[:3])
print('://' in page.replace('http://www.w3.org/', ''), 'src=' in page, 'href=' in page)
PY
printf 'a 0\n' | strobe flamegraph - -q -o nothing.html
echo "exit $?"
grep -c 'Nothing was sampled' nothing.html
