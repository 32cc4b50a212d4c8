# above 10,000 frames only the widest are elements; the others are paths, and the table has them all
python3 - <<'PY'
with open('many.folded', 'w') as f:
    for i in range(300):
        for j in range(40):
            f.write(f'main;a{i:03d};b{j:02d} {1 + i * j % 7}\n')
PY
strobe flamegraph many.folded --minwidth 0 -o a.svg
svg-frames a.svg | wc -l
xmllint --noout a.svg
grep -c '<path class="narrow"' a.svg
python3 - <<'PY'
import json, xml.etree.ElementTree as xml
table = next(e for e in xml.parse('a.svg').iter('{http://www.w3.org/2000/svg}script') if e.get('id') == 'profile')
table = json.loads(table.text)
print({key: len(value) if isinstance(value, list) else value for key, value in table.items() if key not in ('fills', 'boxes')})
print({key: len(value) // 4 for key, value in table['fills'].items()})
PY
svg-boxes a.svg >boxes
sed -n '1,4p' boxes
awk -F'\t' '$1 == 3 { leaves += $3 } $2 + $3 > end { end = $2 + $3 } END { print NR, leaves, end }' boxes
