"""The pages of the demo wiki: the same bytes on every machine.

A page has what a team's wiki has: headings, lists, tables, links to other pages, footnotes, and code in several
languages, because syntax highlighting is among the dearest things that a wiki does.
"""
import random

PAGES = 240
SPACES = ['guide', 'runbook', 'notes', 'reference', 'meeting']

NOUNS = '''account alarm archive backlog backup balance battery beacon bearing bridge buffer cable cache calendar
camera canal carrier ceiling channel chart circuit clock cluster column compass contract counter courier crane
crossing current dashboard delivery depot device dial disk dock drawer driver duty engine entry estimate factory
ferry field filter firmware fleet gate gauge generator grid handle harbour header heater hinge index inlet insurance
inventory invoice journal junction kernel kettle label ladder lamp ledger lens lever library lock machine magnet
manual meter mirror module mooring motor network notice orbit order outlet packet panel parcel passage patch pipe
platform plug pointer pressure printer protocol pump queue radar radio railway ramp receipt record relay report
request reserve ring roof rotor route runway sample satellite scale schedule screen sensor server session shelf
shift signal siren socket spare spring station storage stream supply switch table tank ticket tide timer token tower
track trailer transfer tunnel turbine valve vessel voltage voucher wagon warehouse weather wheel window wire workshop
yard zone'''.split()
VERBS = '''adjusts checks clears closes collects copies counts delays drains drops feeds fills follows guards holds
joins keeps lifts limits loads locks lowers marks measures moves needs opens passes prints pulls pushes raises reads
refuses releases repairs replaces resets returns sends shows signs sorts splits starts stops stores takes tests turns
updates wakes warns weighs writes'''.split()
ADJECTIVES = '''amber broad brisk calm central cold common dark deep distant double early eastern empty equal even
exact fast final firm flat former fresh full grey heavy hidden hollow idle inner joint large late light local long
loose lower main minor modest narrow near new northern old outer paired pale plain quick quiet rare ready remote
round rusty second shallow sharp short silent slow small smooth soft southern spare stable steady steep stiff strong
sudden tall thick third tight upper urgent usual vacant warm weekly western wide'''.split()


def page_ids():
    """The names of all pages, such as `runbook:quiet_harbour`, in a fixed order."""
    rnd = random.Random(20)
    ids = []
    while len(ids) < PAGES:
        name = f'{rnd.choice(SPACES)}:{rnd.choice(ADJECTIVES)}_{rnd.choice(NOUNS)}'
        if name not in ids:
            ids.append(name)
    return ids


def title(page):
    return page.split(':')[1].replace('_', ' ').capitalize()


def phrase(rnd):
    return f'the {rnd.choice(ADJECTIVES)} {rnd.choice(NOUNS)}'


def sentence(rnd):
    joint = rnd.choice([', and', ', but', ' while', ' before', ' after', ' because'])
    return (f'{phrase(rnd)} {rnd.choice(VERBS)} {phrase(rnd)}{joint} {phrase(rnd)} '
            f'{rnd.choice(VERBS)} {phrase(rnd)}.').capitalize()


def decorate(rnd, text, ids):
    """Gives some words the markup that people use."""
    words = text.split(' ')
    for i, word in enumerate(words):
        form = rnd.random()
        if form < 0.03:
            words[i] = f'**{word}**'
        elif form < 0.06:
            words[i] = f'//{word}//'
        elif form < 0.08:
            words[i] = f"''{word}''"
        elif form < 0.11:
            words[i] = f'[[{rnd.choice(ids)}|{word}]]'
        elif form < 0.12:
            words[i] = f'{word}(({sentence(rnd)}))'
        elif form < 0.125:
            words[i] = f'[[https://example.org/{rnd.choice(NOUNS)}|{word}]]'
    return ' '.join(words)


def paragraph(rnd, ids):
    return decorate(rnd, ' '.join(sentence(rnd) for _ in range(rnd.randint(3, 7))), ids) + '\n\n'


def table(rnd):
    rows = [f'^ {rnd.choice(NOUNS)} ^ {rnd.choice(NOUNS)} ^ {rnd.choice(NOUNS)} ^']
    for _ in range(rnd.randint(4, 12)):
        rows.append(f'| {rnd.choice(ADJECTIVES)} {rnd.choice(NOUNS)} |  {rnd.randint(1, 9000)}| {rnd.choice(VERBS)} |')
    return '\n'.join(rows) + '\n\n'


def bullets(rnd, ids):
    mark = rnd.choice('*-')
    lines = []
    for _ in range(rnd.randint(3, 8)):
        lines.append(f'  {mark} {decorate(rnd, sentence(rnd), ids)}')
        if rnd.random() < 0.3:
            lines.append(f'    {mark} {sentence(rnd)}')
    return '\n'.join(lines) + '\n\n'


def code(rnd):
    a, b, c = rnd.sample(NOUNS, 3)
    n = rnd.randint(2, 900)
    language, text = rnd.choice([
        ('php', f'''<?php
/* Moves every {a} of a {b} that is older than {n} days. */
final class {a.capitalize()}Mover
{{
    private array ${c}s = [];

    public function move(string ${a}, int $limit = {n}): ?string
    {{
        foreach ($this->{c}s as $name => ${c}) {{
            if (preg_match('~^{a}-(\\d+)$~', $name, $match) && (int)$match[1] > $limit)
                return sprintf("%s/%s", ${a}, htmlspecialchars($name));
        }}
        return null; // no {c} is left
    }}
}}'''),
        ('sql', f'''-- The {n} largest {a}s by {b}
SELECT {a}.id, {a}.name, COUNT({b}.id) AS {b}s, SUM({b}.{c}) AS {c}
FROM {a} LEFT JOIN {b} ON {b}.{a}_id = {a}.id
WHERE {a}.created > '2024-01-01' AND {b}.state IN ('open', 'late')
GROUP BY {a}.id, {a}.name HAVING SUM({b}.{c}) > {n}
ORDER BY {c} DESC LIMIT {n};'''),
        ('bash', f'''#!/bin/bash
# Empties the {a} when the {b} has more than {n} files.
set -euo pipefail
for file in /srv/{a}/*.{c}; do
    [ -e "$file" ] || continue
    size=$(stat -c %s "$file")
    if [ "$size" -gt {n} ]; then
        gzip -9 "$file" && mv "$file.gz" "/srv/{b}/$(date +%F)-${{file##*/}}.gz"
    fi
done'''),
        ('python', f'''def {a}(items, limit={n}):
    """Returns the first {b} whose {c} is above the limit."""
    for key, value in sorted(items.items()):
        if value.{c} > limit and not key.startswith("{b}"):
            return {{"{a}": key, "{c}": value.{c} * 2}}
    raise KeyError(f"no {b} above {{limit}}")'''),
        ('javascript', f'''// Redraws the {a} at most every {n} ms.
export function {a}(node, {b}s) {{
    let last = 0;
    return async (event) => {{
        if (event.timeStamp - last < {n}) return;
        last = event.timeStamp;
        const {c} = {b}s.filter((x) => x.{c} !== null).map((x) => `${{x.name}}: ${{x.{c}}}`);
        node.textContent = {c}.join("\\n");
    }};
}}'''),
        ('c', f'''/* Returns how many bytes of the {a} are used, or -1. */
static long {a}_used(const struct {a} *p, size_t limit)
{{
    size_t sum = 0;

    for (size_t i = 0; i < p->{b}_count; i++) {{
        if (p->{b}s[i].size > limit - sum)
            return -1;
        sum += p->{b}s[i].size * sizeof(struct {c});
    }}
    return (long)(sum + {n}u);
}}'''),
    ])
    return f'<code {language}>\n{text}\n</code>\n\n'


def page(number, ids):
    """The text of a page by its number."""
    rnd = random.Random(f'page {number}')
    out = [f'====== {title(ids[number])} ======\n\n', paragraph(rnd, ids)]
    for _ in range(rnd.randint(4, 8)):
        out.append(f'===== {rnd.choice(ADJECTIVES).capitalize()} {rnd.choice(NOUNS)} =====\n\n')
        for _ in range(rnd.randint(2, 4)):
            out.append(paragraph(rnd, ids))
        part = rnd.random()
        if part < 0.35:
            out.append(table(rnd))
        elif part < 0.65:
            out.append(bullets(rnd, ids))
        else:
            out.append(code(rnd))
    out.append(code(rnd))
    return ''.join(out)


def start(ids):
    lines = ['====== Harbour works ======\n', 'Everything that the crew should know.\n']
    for space in SPACES:
        lines.append(f'===== {space.capitalize()} =====\n')
        lines += [f'  * [[{i}|{title(i)}]]' for i in ids if i.startswith(space + ':')]
        lines.append('')
    return '\n'.join(lines) + '\n'


def edited(text, rnd):
    """A small change as a person makes it: one sentence more, or the one before replaced. Pages do not grow by it."""
    note = f'Note {rnd.randint(1, 9999)}: {sentence(rnd)}'
    body, _, old = text.rstrip('\n').rpartition('\n\n')
    if not old.startswith('Note '):
        body = text.rstrip('\n')
    return f'{body}\n\n{note}\n'
