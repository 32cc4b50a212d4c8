#!/usr/bin/env python3
"""Compares the documents with the program: links, options of commands, metrics and settings that they name."""
import glob
import os
import re
import subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
DOCUMENTS = [*sorted(glob.glob('*.md', root_dir=ROOT)), *sorted(glob.glob('docs/**/*.md', root_dir=ROOT, recursive=True))]
NOUN_CLAUSE = re.compile(r'^(?:#+ |- )\W*((?:What|Which|Who|Whoever|Whose|Where|Of|Whatever)\b.*)', re.M)
# Such a comment refers to something that its reader has to look for.
NO_NOUN = re.compile(r'(?:/\*+ |^[ \t]*"{3})((?:Those|That|So many|Seldom)\b.*)', re.M)
# The title of a golden test is the first comment of its script, that of a .phpt its first section, that of a unit test its name.
# Titles are plain sentences or noun phrases.
TITLE = re.compile(r'\A(?:#!.*\n)?# ?(.*)')
PHPT_TITLE = re.compile(r'\A--TEST--\n(.*)')
UNIT_TITLE = re.compile(r'^TEST\((\w+)\)', re.M)
NO_TITLE = re.compile(r'(?:^|: )(?:what|whom?|whose|which|where|how|of|so many|as many)\b'
                      r'|\b(?:(?:is|are) (?:told|said|none)|(?:what|who) is|seen to|looked at|makes? no sense|mean nothing'
                      r'|comes? (?:back|again)|g(?:oes|one) on|as ever|is no (?:end|problem|trouble|harm)|gives? back|given back'
                      r'|says? (?:so|why|what|which)|gets? a sentence)\b', re.I)
# Comments of C: the header of a file in either case, a question word with a capital, "what", "who" and "of" in either case.
OF_C = re.compile(r'/\*[ \t*]*(?:\n[ \t*]*)?((?:[\w.]+\.[ch]: (?:[Ww]h(?:at|o|om|ose|ich|ere|ether)|[Hh]ow|[Oo]f)'
                  r'|W(?:hat|ho|hom|hose|hich|here)|How|[Oo]f|wh(?:at|o|om))\b[^\n]*)')
COMMENT = {'c': r'/\*[\s\S]*?\*/', 'h': r'/\*[\s\S]*?\*/', 'py': r'"{3}[\s\S]*?"{3}|(?:^[ \t]*#.*\n)+'}
OTHER_COMMENT = r'(?:^[ \t]*# .*\n)+|(?:^[ \t]*//.*\n)+|^[ \t]*/\*\*?[ \n][\s\S]*?\*/'
LATER_SENTENCE = re.compile(r'[.;:?!](?:[ \t]|\n[ \t]*(?:\*|//|#)?[ \t]*)+((?:What|Whom?|Whose|Which|Of|Th(?:at|ose) (?:of|that|which))\b.*)')
SECTION = re.compile(r'^[ \t]*(?:/\*|//|#) ?-{2,} ((?:what|whom?|whose|which|where|whether|when|why|how|of)\b.*)', re.M | re.I)
OF_SCRIPTS = re.compile(r'^\s*(?:"""|# |// |/\*\*? )((?:What|Whom?|Whose|Which|Where|How|Of)\b.*)', re.M)
DOCSTRING = re.compile(r'"""(.*?)"""', re.S)
PARAGRAPH = re.compile(r'\n[ \t]*\n[ \t]*((?:What|Whether|Whom?|Whose|Which|Where|How|Of)\b.*)')
# American spelling, as in the names of options and fields. The palette "grey" is flamegraph.pl's. A pattern that
# began with \w* would be tried from each letter of each word.
BRITISH = re.compile(r'(?:(?:colo|behavio|favo|flavo|hono|labo|neighbo)ur|(?:cancel|label|model|signal|travel)l(?:ed|ing)'
                     r'|(?:initial|normal|optim|organ|recogn|serial|summar)is(?:e|ing|ation)|\b(?:cent(?:re)|licen(?:ce))s?\b)')


def read(path):
    with open(os.path.join(ROOT, path), encoding='utf-8') as f:
        return f.read()


def told(wrong, sentence):
    print(f'{"not ok" if wrong else "ok"} - {sentence}' + ''.join(f'\n# {w}' for w in wrong))


def anchors(path):
    """As GitHub makes them of headings."""
    headings = re.findall(r'^#+ (.*)$', read(path), re.M)
    return {re.sub(r'[^\w -]', '', h.strip().lower()).replace(' ', '-') for h in headings}


def broken_links():
    for path in DOCUMENTS:
        for link in re.findall(r'\]\(([^)\s]+)\)', read(path)):
            if '://' in link:
                continue
            name, _, anchor = link.partition('#')
            target = os.path.normpath(os.path.join(os.path.dirname(path), name)) if name else path
            if not os.path.exists(os.path.join(ROOT, target)) or anchor and anchor not in anchors(target):
                yield f'{path}: {link}'


def missing_files():
    """Source files that documents name in backticks. History keeps former names, and CONTRIBUTING writes a new format, tally."""
    for path in DOCUMENTS:
        for name in re.findall(r'`((?:[a-z_]+/)+[a-z_0-9]+\.(?:[ch]|py|mjs|tsx?))`', read(path)):
            places = [os.path.join(ROOT, folder, name) for folder in ('', 'src', 'src/capture', 'extension', 'web', 'web/src')]
            if path != 'docs/history.md' and 'tally' not in name and not any(map(os.path.exists, places)):
                yield f'{path}: {name}'


def commands():
    """The options of each command by its table, those that --help does not show too."""
    found = {}
    for path in glob.glob(os.path.join(ROOT, 'src/cli/cmd_*.c')):
        name = os.path.basename(path)[len('cmd_'):-len('.c')]
        shown = subprocess.run([os.environ['STROBE'], name, '--help'], capture_output=True, text=True).stdout
        hidden = re.findall(r'\{ OPTION_\w+, (?:0|\'(\w)\'), "([\w-]+)"', read(path))
        found[name] = set(re.findall(r'(?:^  |, |^ {6})(--?[a-zA-Z][\w-]*)', shown, re.M)) | {f'--{long}' for _, long in hidden}
    return found


def unknown_options():
    known = commands()
    for path in DOCUMENTS:
        for name, words in re.findall(rf'\bstrobe ({"|".join(known)})\b([^`|#\n]*)', read(path)):
            own = re.sub(r"'[^']*'", '', re.split(r' -- |[<>]', words)[0])      # not those of commands within it
            for option in re.findall(r'(?<![\w-])(--[a-zA-Z][\w-]*|-[a-zA-Z])', own):
                if not any(o == option or o.startswith(option) and option.startswith('--') for o in known[name]):
                    yield f'{path}: strobe {name} {option}'


def unknown_names():
    sources = '\n'.join(read(os.path.relpath(path, ROOT)) for place in ('src', 'extension')
                        for path in glob.glob(os.path.join(ROOT, place, '**/*.[ch]'), recursive=True))
    for path in DOCUMENTS:
        text = read(path)
        for metric in set(re.findall(r'\b(?:strobe|arclamp)_[a-z_]+_(?:total|bytes|seconds|samples|entries)\b', text)):
            if path not in ('CHANGELOG.md', 'docs/history.md') and metric not in sources and metric.removeprefix('strobe_') not in sources:
                yield f'{path}: {metric}'
        for setting in set(re.findall(r'^\| `(strobe\.[a-z_]+)`', text, re.M)):
            if f'"{setting}"' not in sources:
                yield f'{path}: {setting}'


def unlisted_decisions():
    index = set(re.findall(r'\]\(([\w-]+\.md)\)', read('docs/decisions/README.md')))
    return sorted({os.path.basename(path) for path in glob.glob(os.path.join(ROOT, 'docs/decisions/*.md'))} - {'README.md'} - index)


def clauses_in(path):
    text, ending = read(path), os.path.splitext(path)[1][1:]
    yield from (OF_C if ending in ('c', 'h') else OF_SCRIPTS).findall(text)
    for comment in re.findall(COMMENT.get(ending, OTHER_COMMENT), text, re.M):
        yield from LATER_SENTENCE.findall(comment)
    for docstring in DOCSTRING.findall(text) if ending in ('py', '') else ():
        yield from PARAGRAPH.findall(docstring)


def sources():
    for place in ('src', 'extension', 'wire', 'tests', 'bench', 'scripts', 'web/src'):
        for folder, below, files in os.walk(os.path.join(ROOT, place)):
            below[:] = [b for b in below if b not in ('corpus', 'node_modules', '.libs')]
            for name in files:
                if '.' not in name or name.endswith(('.c', '.h', '.py', '.php', '.inc', '.phpt', '.ts', '.tsx', '.mjs', '.css', '.sh')):
                    yield os.path.relpath(os.path.join(folder, name), ROOT)


def clauses_in_comments():
    return [f'{path}: {line}' for path in sources() for line in clauses_in(path)]


def comments_without_a_noun():
    return [f'{path}: {line}' for path in sources() if path.endswith(('.c', '.h', '.py', '.phpt')) for line in NO_NOUN.findall(read(path))]


def titles():
    """Each with the path of its test; None where there is no title."""
    for paths, title in (('tests/cli/*.sh', TITLE), ('extension/tests/*.phpt', PHPT_TITLE)):
        for path in sorted(glob.glob(paths, root_dir=ROOT)):
            found = title.match(read(path))
            yield path, found[1] if found else None
    for folder in ('src', 'wire', 'extension'):
        for path in sorted(glob.glob(f'{folder}/**/test_*.c', root_dir=ROOT, recursive=True)):
            for name in UNIT_TITLE.findall(read(path)):
                yield path, name.replace('_', ' ')


def titles_that_are_clauses():
    for path, title in titles():
        if not title or NO_TITLE.search(title):
            yield f'{path}: {title or "no title"}'


def clauses_in_sections():
    return [f'{path}: {line}' for path in sources() for line in SECTION.findall(read(path))]


def british_spellings():
    for path in [*DOCUMENTS, *sources()]:
        text = read(path).lower()       # several times as fast as with re.I
        text = re.sub('`[^`\n]*`', '', text) if path == 'docs/history.md' else text    # former names
        for word in BRITISH.finditer(text):
            number, line = text.count('\n', 0, word.start()) + 1, text[text.rfind('\n', 0, word.start()) + 1:].partition('\n')[0]
            if 'cost centre' not in line:
                yield f'{path}:{number}: {line.strip()[:100]}'


def main():
    told(unlisted_decisions(), 'the index of docs/decisions lists every decision')
    told(list(broken_links()), 'every link in the documents leads to an existing file and heading')
    told(list(missing_files()), 'every source file named in the documents exists')
    told(list(unknown_options()), 'every option documented with a command exists')
    told(list(unknown_names()), 'every metric and setting named in the documents exists')
    told([f'{path}: {line}' for path in DOCUMENTS for line in NOUN_CLAUSE.findall(read(path))],
         'no heading and no item of a list begins with a noun clause')
    told(clauses_in_comments(), 'no sentence of a comment begins with a question word or with "of"')
    told(comments_without_a_noun(), 'no comment begins with "those" or "that" without a noun')
    told(list(titles_that_are_clauses()), 'titles of golden tests, .phpt files and unit tests are plain sentences or noun phrases')
    told(list(british_spellings()), 'spelling is American: color, behavior, canceled')
    told(clauses_in_sections(), 'titles of code sections are noun phrases without question words or a leading "of"')


if __name__ == '__main__':
    main()
