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
print({key: len(value) if isinstance(value, list) else value for key, value in table.items() if key != 'fills'})
print({key: len(value) // 6 for key, value in table['fills'].items()})
leaves = [v for v, d in zip(table['value'], table['depth']) if d == 3]
ends, starts = [0] * 9, []
for d, skip, v in zip(table['depth'], table['skip'], table['value']):
    starts.append(ends[d] + skip)
    ends[d], ends[d + 1] = starts[-1] + v, starts[-1]
print(sum(leaves) == table['value'][0], max(s + v for s, v in zip(starts, table['value'])) == table['value'][0])
PY
