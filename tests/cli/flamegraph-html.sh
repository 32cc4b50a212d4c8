# .html: one page with a still picture, its scripts named by hash in its own policy, and nothing fetched
printf 'main;a 3\nmain;b </script><script>alert(1) 4\n' > a.folded
strobe flamegraph a.folded -o a.html --title '</title>&' --subtitle '<b>'
strobe flamegraph a.folded -o again.html --title '</title>&' --subtitle '<b>' -q
cmp a.html again.html
python3 - <<'PY'
import base64, hashlib, json, re, struct, zlib
page = open('a.html', encoding='utf-8').read()
scripts = re.findall(r'<script([^>]*)>(.*?)</script>', page, re.S)
print([attributes for attributes, _ in scripts])
digests = [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for attributes, text in scripts if not attributes]
print(set(re.search(r"script-src ([^;]*);", page).group(1).split()) == {f"'sha256-{digest}'" for digest in digests}, len(digests))
print(json.loads(scripts[1][1])['countName'])
boxes = zlib.decompress(base64.b64decode(scripts[2][1]))
print(boxes[:4], 'nodes, depths, columns:', *struct.unpack_from('<III', boxes, 8))
print(re.findall(r'<(?:title|h1|p)>.*?</(?:title|h1|p)>', page)[:3])
print('://' in page.replace('http://www.w3.org/', ''), 'src=' in page, 'href=' in page)
PY
printf 'a 0\n' | strobe flamegraph - -q -o nothing.html
echo "exit $?"
grep -c 'Nothing was sampled' nothing.html
