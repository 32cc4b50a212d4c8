"""Pages and answers of a daemon as the input of commands."""
import json
import os
import re
import subprocess
import urllib.request

from daemon import Daemon
from strobe_test import STROBE, Directory, check, main, test, wait_for
from wire import connect, message, run_message

CALLS = [(0, 'main()', 1, 2_000_000, 100), (1, 'Cart::add', 3, 5_000_000, 4096)]


def strobe(*arguments, **variables):
    environment = {k: v for k, v in os.environ.items() if k != 'STROBE_TOKEN'}
    return subprocess.run([STROBE, *arguments], capture_output=True, text=True, timeout=120,
                          env={**environment, **variables})


def fill(d):
    s = connect(d.socket)
    s.send(message({('main', 'work'): 3, ('main', 'wait'): 2}, {'entry': 'api.php'}))
    s.send(message({('main', 'other'): 7}, {'entry': 'index.php'}))
    s.send(run_message(CALLS, {'source': 'shop', 'id': 'r1'}))
    s.send(run_message([(0, 'main()', 1, 2_000_000, 100), (1, 'Cart::add', 3, 9_000_000, 4096)], {'source': 'shop', 'id': 'r2'}))
    check(wait_for(lambda: d.status()['samples']['stored'] == 12 and d.status()['runs']['stored'] == 2), 'all samples and runs are stored')
    s.close()


@test
def every_command_that_reads_profiles_accepts_the_url_of_a_page():
    with Directory() as directory, Daemon(directory) as d:
        fill(d)
        page = f'{d.url}/?from=-1h&entry=api*#show=table'
        r = strobe('collapse', page)
        check(r.stdout == 'main;wait 2\nmain;work 3\n' and r.returncode == 0, f'{r}')
        r = strobe('collapse', f'{d.url}/?from=-1h&entry=api*', f'{d.url}/?from=-1h&entry=index*')
        check(r.stdout == 'main;other 7\nmain;wait 2\nmain;work 3\n', f'the profiles of two URLs are added up: {r}')
        r = strobe('report', '--json', f'{d.url}/runs/shop/r1?function=main()')
        check('Cart::add' in r.stdout and r.returncode == 0 and 'names a function' in r.stderr, f'a URL that names a function is read as the whole profile, with a note: {r}')
        r = strobe('report', '--callees', 'main()', f'{d.url}/runs/shop/r1?function=main()')
        check('Cart::add' in r.stdout and not r.stderr, f'{r}')
        r = strobe('collapse', f'{d.url}/runs/shop/r1?column=memory_bytes')
        check(r.stdout == 'main() 100\nmain();Cart::add 4096\n', f'the column in the URL is used: {r}')
        r = strobe('collapse', '--column', 'calls', f'{d.url}/runs/shop/r1?column=memory_bytes')
        check(r.stdout == 'main() 1\nmain();Cart::add 3\n', f'--column overrides the column in the URL: {r}')
        r = strobe('collapse', f'{d.url}/index.php?run=r1&source=shop')
        check(r.stdout == 'main() 2000000\nmain();Cart::add 5000000\n', f'a uprofiler link is accepted: {r}')
        r = strobe('convert', '-f', 'folded', f'{d.url}/runs/shop/r1?column=memory_bytes')
        check(r.stdout == 'main() 100\nmain();Cart::add 4096\n', f'convert uses the column in the URL: {r}')
        r = strobe('grep', '--json', '--no-skip', '--lowercase', f'{d.url}/runs/shop/r1?column=memory_bytes')
        check([(f['function'], f['samples']) for f in json.loads(r.stdout)['functions']] == [('Cart::add', 4096), ('main()', 100)], f'grep uses the column in the URL: {r}')
        r = strobe('grep', '--json', '--lowercase', page)
        check([(f['function'], f['samples']) for f in json.loads(r.stdout)['functions']] == [('work', 3), ('wait', 2)] and json.loads(r.stdout)['sources'] == [page], f'{r}')
        r = strobe('diff', '--csv', f'{d.url}/runs/shop/r1', f'{d.url}/runs/shop/r2')
        check(r.returncode == 0 and 'Cart::add' in r.stdout, f'{r}')
        r = strobe('diff', '--csv', f'{d.url}/?run=shop/r2&base=shop/r1&scale=none')
        check(r.returncode == 0 and 'Cart::add' in r.stdout and '4000000' in r.stdout, f'the URL of a comparison is accepted by diff: {r}')
        both = strobe('diff', '--csv', f'{d.url}/runs/shop/r1', f'{d.url}/runs/shop/r2').stdout
        for path in ('?run=shop/r2&base=shop/r1&scale=none#show=table', 'runs/shop/r2?base=shop/r1', 'index.php?run1=r1&run2=r2&source=shop'):
            r = strobe('diff', '--csv', f'{d.url}/{path}')
            check(r.returncode == 0 and r.stdout == both, f'{path} provides both sides: {r}')
        r = strobe('diff', f'{d.url}/?run=shop/r2&base=shop/r1&column=memory_bytes&base.scale=x&scale=total')
        check(r.returncode == 0 and 'KiB of memory_bytes' in r.stdout and 'by share of the total' in r.stdout, f'the column and the scale in the URL are used: {r}')
        r = strobe('diff', '--all', '--json', f'{d.url}/?entry=api.php&base.entry=index.php&keep=.#keep=nothing')
        check(json.loads(r.stdout)['functions'] and r.returncode == 0, f'a filter that matches all stacks is accepted: {r}')
        table = json.loads(d.get('/api/v1/table?run=shop/r2&base=shop/r1&keep=Cart&scale=total'))
        check(round(table['compared']['factor'], 4) == 1.5714 and table['self'] == [[7857143, 0], [9000000, 0]], f'the scale is computed from all stacks: {table}')
        r = strobe('diff', '--json', f'{d.url}/?keep=Cart&run=shop/r2&remove-i=nothing&base=shop/r1&scale=total')
        sides = {f['function']: (f['self']['before'], f['self']['after']) for f in json.loads(r.stdout)['functions']}
        check(sides == {'Cart::add': (7857143, 9000000), 'main()': (0, 0)}, f'diff computes the same scale: {r}')
        r = strobe('diff', '--all', '--json', f'{d.url}/?entry=api.php&base.entry=index.php')
        sides = {f['function']: (f['self']['before'], f['self']['after']) for f in json.loads(r.stdout)['functions']}
        check(sides['other'][0] > 0 == sides['other'][1] and sides['work'][0] == 0 < sides['work'][1], f'two label sets are compared: {r}')
        r = strobe('report', '--json', f'{d.url}/?run=shop/r2&base=shop/r1')
        check('9000000' in r.stdout and 'second side' in r.stderr, f'report shows the second side, with a note: {r}')
        r = strobe('flamegraph', f'{d.url}/?run=shop/r2&base=shop/r1', '-o', f'{directory}/d.html')
        with open(f'{directory}/d.html') as f:
            html = f.read()
        check(r.returncode == 0 and '<title>Difference<' in html and '"name":"wall_ns"' in html, f'the flame graph shows the difference: {r}')
        for url in (f'{d.url}/?run=shop/r2&base=shop/r1&column=memory_bytes', f'{d.url}/?from=-1h&entry=api.php&base.entry=index.php',
                    f'{d.url}/?from=-1h&entry=api.php&base.entry=index.php&scale=none', f'{d.url}/index.php?run1=r1&run2=r2&source=shop'):
            for ending in ('html', 'svg'):
                for command in ('diff', 'flamegraph'):
                    r = strobe(command, url, '-o', f'{directory}/{command}.{ending}')
                    check(r.returncode == 0, f'{r}')
                with open(f'{directory}/diff.{ending}') as f, open(f'{directory}/flamegraph.{ending}') as g:
                    check(f.read() == g.read(), f'{url} as {ending} is the same from flamegraph and diff')
        r = strobe('flamegraph', f'{d.url}/?run=shop/r2&base=shop/r1&scale=half', '-o', f'{directory}/d.html')
        check(r.returncode == 2 and 'scale=half' in r.stderr, f'{r}')
        r = strobe('flamegraph', f'{d.url}/?run=shop/r2&base=shop/r1', '--function', 'add$', '-o', f'{directory}/a.svg', '--also',
                   f'column=memory_bytes:{directory}/b.svg', '--also', f'function=nothing:{directory}/c.svg')
        with open(f'{directory}/a.svg') as f, open(f'{directory}/b.svg') as g:
            check(r.returncode == 0 and 'ms' in f.read() and 'KiB' in g.read() and "matches 'nothing'" in r.stderr, f'{r}')
        r = strobe('report', f'{d.url}/?side=before')
        check(r.returncode == 2 and 'only a comparison has sides' in r.stderr, f'{r}')
        for command, option, path in (('flamegraph', '-o', 'a.svg'), ('callgraph', '-o', 'a.dot'), ('convert', '-o', 'a.pb.gz')):
            r = strobe(command, page, option, f'{directory}/{path}')
            check(r.returncode == 0 and os.path.getsize(f'{directory}/{path}') > 0, f'{command}: {r}')
        r = strobe('import', '--store', f'sqlite:{directory}/other', '--source', 'copy', f'{d.url}/runs/shop/r1')
        check(r.returncode == 0 and r.stdout.startswith('copy/'), f'{r}')


def post_run(d, run, file):
    profile = {'$schema': 'https://www.speedscope.app/file-format-schema.json',
               'shared': {'frames': [{'name': 'main', 'file': '/app/index.php'}, {'name': 'render', 'file': file}]},
               'profiles': [{'type': 'sampled', 'name': 'x', 'unit': 'none', 'startValue': 0, 'endValue': 9, 'samples': [[0, 1]], 'weights': [9]}]}
    request = urllib.request.Request(f'{d.url}/api/v1/runs?source=shop&id={run}', data=json.dumps(profile).encode())
    with urllib.request.urlopen(request, timeout=20) as r:
        check(r.status == 201, r.status)


@test
def annotate_accepts_the_url_of_a_function_page():
    frames = [{'name': '/app/index.php', 'file': '/app/index.php', 'line': 9}, {'name': 'App\\Cart::total', 'file': '/app/a b.php', 'line': 5},
              {'name': 'App\\Cart::total', 'file': '/app/old.php', 'line': 7}, {'name': 'strlen'}]
    profile = {'$schema': 'https://www.speedscope.app/file-format-schema.json', 'shared': {'frames': frames},
               'profiles': [{'type': 'sampled', 'name': 'x', 'unit': 'none', 'startValue': 0, 'endValue': 96, 'samples': [[0], [0, 1], [0, 2], [0, 1, 3]], 'weights': [80, 9, 4, 3]}],
               'exporter': 'strobe@0', 'strobe': {'start_ns': 1780000000000000000, 'end_ns': 1780000010000000000}, 'strobe_starts': [0, 3, 3, 0]}
    with Directory() as directory, Daemon(directory) as d:
        with urllib.request.urlopen(urllib.request.Request(f'{d.url}/api/v1/runs?source=shop&id=lines', json.dumps(profile).encode()), timeout=20) as r:
            check(r.status == 201, r.status)

        def annotated(query, *more):
            r = strobe('annotate', f'{d.url}/runs/shop/lines?{query}', *more, '--json')
            answer = json.loads(r.stdout) if r.returncode == 0 else {}
            return (answer.get('file'), answer.get('function'), [(line['line'], line['self']) for line in answer.get('lines', []) if line.get('total')]), r

        for query, more, wanted in (('function=App%5CCart%3A%3Atotal', [], ('/app/a b.php', 'App\\Cart::total', [(5, 12)])),
                                    ('by=&function=App\\Cart::total&function_file=%2Fapp%2Fold.php#show=table', [], ('/app/old.php', 'App\\Cart::total', [(7, 4)])),
                                    ('function=App%5CCart%3A%3Atotal&function_file=%2Fapp%2Fa+b.php', [], ('/app/a b.php', 'App\\Cart::total', [(5, 12)])),
                                    ('function=App%5CCart%3A%3Atotal', ['old.php'], ('/app/old.php', None, [(7, 4)])), ('', [], ('/app/index.php', None, [(9, 80)]))):
            found, r = annotated(query, *more)
            check(found == wanted, f'{query} {more}: {found}, {r}')
        for name, why in (('strlen', "'strlen' has no lines"), ('nobody', "'nobody'")):
            r = annotated(f'function={name}')[1]
            check(r.returncode == 2 and why in r.stderr and 'no file' not in r.stderr, f'{r}')
        r = strobe('report', f'{d.url}/runs/shop/lines?function=App%5CCart%3A%3Atotal')
        check('strlen' in r.stdout and '--callers and --callees show one' in r.stderr, f'{r}')


@test
def a_function_that_moved_to_another_file_is_found_by_either_file():
    with Directory() as directory, Daemon(directory) as d:
        post_run(d, 'old', '/app/x/w.php')
        post_run(d, 'new', '/app/y/w.php')
        for file in ('/app/x/w.php', '/app/y/w.php'):
            f = json.loads(d.get(f'/api/v1/function?run=shop/new&base=shop/old&function=render&function_file={file}'))['function']
            check((f['file'], f['places'], f['self'], f['files']) == ('/app/y/w.php', 1, [9, 9], ['/app/y/w.php']), f'{file}: {f}')
        f = json.loads(d.get('/api/v1/function?run=shop/new&base=shop/old&by=file&function=/app/y/w.php&function_file=/app/y/w.php'))['function']
        check(f['self'][1] == 9, f'a file is found without a file of its own: {f}')


@test
def a_comparison_saved_to_a_file_matches_its_url():
    """If its stacks were filtered the scale is still that of both wholes; noise is that of what the file has."""
    with Directory() as directory, Daemon(directory) as d:
        for run, stacks in ('b', b'main;a 40\nmain;b 60\nmain;c 100\n'), ('a', b'main;a 150\nmain;b 60\nmain;d 90\n'):
            urllib.request.urlopen(urllib.request.Request(f'{d.url}/api/v1/runs?source=shop&id={run}', data=stacks), timeout=20).close()
        for keep in '', '&keep=%5E%28b%7Cd%29%24':
            page = f'{d.url}/?run=shop/a&base=shop/b{keep}'
            with urllib.request.urlopen(page.replace('/?', '/api/v1/profile?') + '&format=strobe', timeout=30) as r, \
                    open(f'{directory}/x.strobe', 'wb') as f:
                f.write(r.read())
            said, wanted = strobe('diff', f'{directory}/x.strobe').stdout, strobe('diff', page).stdout
            end = 3 if keep else None
            check('multiplied by 1.5' in wanted and said.splitlines()[2:end] == wanted.splitlines()[2:end], f'{keep}: {said}, not {wanted}')
            count = '60' if keep else '200'
            check(f', {count} samples' in said.splitlines()[0], f'the number of samples is as measured: {said}')
            check(wanted.startswith(f'before: run shop/b, {count} samples\nafter:  run shop/a, '), f'the sides are named: {wanted}')
            pictures = [strobe('flamegraph', x, '-o', '-').stdout for x in (f'{directory}/x.strobe', page)]
            check(keep or pictures[0] == pictures[1], 'the image matches that of the URL')
            check(all('before is multiplied by 1.5' in picture for picture in pictures), f'{keep}: the image names the scale')
            check(strobe('flamegraph', f'{directory}/x.strobe', '-o', f'{directory}/x.html').returncode == 0, 'the page is written')
            with open(f'{directory}/x.html') as f:
                check('"factor":1.5' in f.read(), f'{keep}: the page contains the scale')


@test
def a_comparison_exported_to_other_formats_has_both_sides_or_a_warning():
    with Directory() as directory, Daemon(directory) as d:
        for run, stacks in ('b', b'main;a 40\nmain;b 60\n'), ('a', b'main;a 150\nmain;b 60\n'):
            urllib.request.urlopen(urllib.request.Request(f'{d.url}/api/v1/runs?source=shop&id={run}', data=stacks), timeout=20).close()
        for scale, a in ('', '40'), ('&scale=total', '84'):
            page = f'{d.url}/?run=shop/a&base=shop/b{scale}'
            with urllib.request.urlopen(page.replace('/?', '/api/v1/profile?') + '&format=folded', timeout=30) as r:
                folded = r.read().decode()
            check(folded.startswith(f'main;a {a} 150\n') and folded == strobe('diff', '--folded', page).stdout, f'{scale}: {folded}')
        for form, sides in ('pprof', 2), ('speedscope', 2), ('callgrind', 2), ('xhprof', 1), ('xhprof-json', 1), ('chrome', 1):
            with urllib.request.urlopen(f'{d.url}/api/v1/profile?run=shop/a&base=shop/b&format={form}&column=samples', timeout=30) as r, \
                    open(f'{directory}/x.{form}', 'wb') as f:
                f.write(r.read())
            said = r.headers['Strobe-Warning'] or ''
            check(('these are the values after' in said) == (sides == 1), f'{form}: {said}')
            code = strobe('diff', f'{directory}/x.{form}').returncode
            check((code == 0) == (sides == 2), f'{form} has {sides} sides')


def time_of(file):
    return sum(int(line.rsplit(' ', 1)[1]) for line in strobe('collapse', file).stdout.splitlines())


@test
def commands_with_one_value_per_stack_note_that_they_show_one_side_of_a_comparison():
    with Directory() as directory, Daemon(directory) as d:
        fill(d)
        page, file = f'{d.url}/?run=shop/r2&base=shop/r1', f'{directory}/x.strobe'
        with urllib.request.urlopen(page.replace('/?', '/api/v1/profile?') + '&format=strobe', timeout=30) as r, open(file, 'wb') as f:
            f.write(r.read())
        after = 'main() 2000000\nmain();Cart::add 9000000\n'
        for given in page, file:
            for command in ['collapse'], ['convert', '-f', 'folded']:
                r = strobe(*command, given)
                check(r.stdout == after and 'second side' in r.stderr and 'strobe diff' in r.stderr, f'{command} of {given}: {r}')
                r = strobe(*command, '--column', 'before', given)
                check(r.stdout == after.replace('9', '5') and 'second side' not in r.stderr, f'a selected side is used without a note: {r}')
            for command in ['report'], ['grep', '--no-skip', '--lowercase'], ['convert', '-f', 'chrome']:
                check('second side' in strobe(*command, given).stderr, f'{command} of {given} notes that it shows the second side')
            for form in 'folded', 'stap', 'chrome', 'xhprof', 'xhprof-json':
                check('second side' in strobe('convert', '-f', form, given, '-o', f'{directory}/x').stderr, f'convert of {given} to {form} notes that it writes the second side')
                check(time_of(f'{directory}/x') == 11_000_000, f'the second side is written as {form}: {strobe("report", "--json", f"{directory}/x")}')
                for side, total in ('before', 7_000_000), ('after', 11_000_000):
                    r = strobe('convert', '-f', form, '--column', side, given, '-o', f'{directory}/x')
                    check('second side' not in r.stderr and time_of(f'{directory}/x') == total, f'{side} of {given} as {form}: {r}')
            for command in ['convert', '-q', '-f', 'folded'], ['convert', '-q', '-f', 'xhprof'], ['convert', '-f', 'speedscope'], ['diff'], ['diff', '--folded']:
                check('second side' not in strobe(*command, given).stderr, f'{command} of {given} prints no note')
        check('second side' not in strobe('grep', '--no-skip', '--lowercase', f'{page}&side=before').stderr, 'no note is printed for a selected side')


@test
def one_side_of_a_comparison_has_unscaled_values():
    """However it is selected; only comparisons scale it."""
    with Directory() as directory, Daemon(directory) as d:
        for run, stacks in ('b', b'main;a 41\nmain;b 59\nmain;c;a 1\n'), ('a', b'main;a 150\nmain;b 60\n'):
            urllib.request.urlopen(urllib.request.Request(f'{d.url}/api/v1/runs?source=shop&id={run}', data=stacks), timeout=20).close()
        page, file = f'{d.url}/?run=shop/a&base=shop/b&scale=total', f'{directory}/x.strobe'
        check(strobe('convert', page, '-o', file).returncode == 0, 'the comparison is converted to a profile')
        before = strobe('collapse', f'{page}&side=before').stdout
        check(before == 'main;a 41\nmain;b 59\nmain;c;a 1\n', f'{before}')
        for given in page, file:
            for command in ['collapse'], ['convert', '-f', 'folded']:
                r = strobe(*command, '--column', 'before', given)
                check(r.stdout == before, f'{command} of {given}: {r}')
            rows = json.loads(strobe('report', '--json', '--column', 'before', given).stdout)['functions']
            check({f['function']: f['self'] for f in rows if f['self']} == {'a': 42, 'b': 59}, f'report of {given}: {rows}')


@test
def the_column_in_the_url_of_a_comparison_is_used():
    with Directory() as directory, Daemon(directory) as d:
        fill(d)
        s = connect(d.socket)
        s.send(run_message([(0, 'main()', 1, 2_000_000, 300), (1, 'Cart::add', 7, 9_000_000, 8192)], {'source': 'shop', 'id': 'r3'}))
        check(wait_for(lambda: d.status()['runs']['stored'] == 3), 'all runs are stored')
        s.close()
        for column, before, after in ('calls', (1, 3), (1, 7)), ('wall_ns', (2_000_000, 5_000_000), (2_000_000, 9_000_000)), ('memory_bytes', (100, 4096), (300, 8192)):
            page = f'{d.url}/?run=shop/r3&base=shop/r1&column={column}'
            for command in ['collapse'], ['convert', '-f', 'folded']:
                r = strobe(*command, page)
                check(r.stdout == 'main() %d\nmain();Cart::add %d\n' % after, f'{command} of {column}: {r}')
            rows = json.loads(strobe('report', '--json', page).stdout)['functions']
            check(sorted(f['self'] for f in rows) == sorted(after), f'report of {column}: {rows}')
            totals = {f['function']: f.get('total') for f in rows}
            check(totals['main()'] == (after[0] if column == 'calls' else sum(after)), f'totals of {column}: {totals}')
            rows = json.loads(strobe('diff', '--all', '--json', page).stdout)['functions']
            sides = {f['function']: (f['self']['before'], f['self']['after']) for f in rows}
            check(sides == {'main()': (before[0], after[0]), 'Cart::add': (before[1], after[1])}, f'diff of {column}: {sides}')
            both = ''.join(f'{stack} {x} {y}\n' for stack, x, y in zip(('main()', 'main();Cart::add'), before, after))
            r = strobe('diff', '--folded', page)
            check(r.stdout == both, f'diff --folded of {column}: {r}')
            r = strobe('collapse', f'{page}&side=before')
            check(r.stdout == 'main() %d\nmain();Cart::add %d\n' % before, f'the first side of {column}: {r}')


def values(text):
    return sorted(line for line in text.splitlines() if line)


@test
def other_code_is_summarized_in_one_row_in_every_output():
    frames = [{'name': 'main', 'file': '/srv/index.php'}, {'name': 'boot', 'file': '/srv/vendor/a/b/Boot.php'}, {'name': 'usleep'}]
    profile = {'$schema': 'https://www.speedscope.app/file-format-schema.json', 'shared': {'frames': frames},
               'profiles': [{'type': 'sampled', 'name': 'x', 'unit': 'none', 'startValue': 0, 'endValue': 60,
                             'samples': [[0], [0, 2], [1], [1, 2], [1, 0]], 'weights': [10, 20, 5, 7, 18]}]}
    expected = ['[other code] 12', 'main 48']
    with Directory() as directory, Daemon(directory) as d:
        for run in 'one', 'two':
            request = urllib.request.Request(f'{d.url}/api/v1/runs?source=shop&id={run}', data=json.dumps(profile).encode())
            urllib.request.urlopen(request, timeout=20).close()
        page = f'{d.url}/?run=shop/one&by=own'
        check(values(d.get('/api/v1/profile?run=shop/one&by=own&format=folded')) == expected, 'the folded profile has the row')
        check(values(strobe('collapse', page).stdout) == expected, f'collapse prints the row: {strobe("collapse", page)}')
        with open(f'{directory}/x.json', 'w') as f:
            json.dump(profile, f)
        for given in [page], ['--by', 'own', f'{directory}/x.json']:
            rows = json.loads(strobe('report', '--json', *given).stdout)['functions']
            check({f['function']: f['self'] for f in rows} == {'main': 48, '[other code]': 12}, f'report {given}: {rows}')
        rows = json.loads(strobe('diff', '--all', '--json', f'{page}&base=shop/two').stdout)['functions']
        check({f['function']: f['self']['after'] for f in rows} == {'main': 48, '[other code]': 12}, f'diff: {rows}')


@test
def files_with_an_average_of_runs_name_the_runs():
    with Directory() as directory, Daemon(directory) as d:
        fill(d)
        for weights, words in ('&weights=2,1', 'shop/r1, weight 2 of 3; shop/r2, weight 1 of 3'), ('', 'shop/r1; shop/r2'):
            url, strobe_file = f'{d.url}/?run=shop/r1&run=shop/r2{weights}', f'{directory}/x.strobe'
            check(strobe('convert', url, '-o', strobe_file).returncode == 0, 'the average is converted to a profile')
            for given in url, strobe_file:
                r = strobe('flamegraph', given, '-o', f'{directory}/x.html')
                with open(f'{directory}/x.html') as f:
                    check(f'"average":"{words}"' in f.read(), f'{given}: {r}')
            check(words.split('; ')[1] in re.sub('<[^>]*>', '', d.get(f'/?run=shop/r1&run=shop/r2{weights}')), 'the page without scripts names the runs as well')
        runs = [f'{i:03}' + 'x' * 50 for i in range(32)]
        for run in runs:
            urllib.request.urlopen(urllib.request.Request(f'{d.url}/api/v1/runs?source=shop&id={run}', data=b'main;a 1\n'), timeout=20).close()
        r = strobe('convert', f'{d.url}/?' + '&'.join(f'run=shop/{run}' for run in runs), '-o', f'{directory}/x.strobe')
        check(r.returncode == 0, f'a long list of run names is shortened: {r}')
        r = strobe('flamegraph', f'{directory}/x.strobe', '-o', f'{directory}/x.html')
        with open(f'{directory}/x.html') as f:
            check(re.search('"average":"shop/000x+; shop/001x+; .*; and [0-9]+ more"', f.read()), f'{r}')


@test
def functions_with_a_blank_name_are_shown_as_unknown_everywhere():
    with Directory() as directory, Daemon(directory) as d:
        folded = ';a;b 3\na;;b 1\nd; ;e 2\n'
        with open(f'{directory}/blank.folded', 'w') as f:
            f.write(folded)
        for run in ('blank', 'again'):
            r = strobe('import', '--store', f'sqlite:{directory}/state', '--source', 'shop', '--id', run, f'{directory}/blank.folded')
            check(r.returncode == 0, f'{r}')
        for view in ('run=shop/blank', 'run=shop/blank&base=shop/again'):
            table = json.loads(d.get(f'/api/v1/table?{view}'))
            check(sorted(table['name']) == ['[unknown]', 'a', 'b', 'd', 'e'], f'{table["name"]}')
            for name in ('%5Bunknown%5D', '%20'):
                around = json.loads(d.get(f'/api/v1/function?{view}&function={name}'))
                check({e['name'] for e in around['callees']} == {'a', 'b', 'e'}, f'{around}')
            page = d.get(f'/?{view}&function=%5Bunknown%5D')
            check('[unknown]' in page and '"></a>' not in page and '"> </a>' not in page, page)
            check('[unknown]' in d.get(f'/callgraph.svg?{view}&function=%5Bunknown%5D') and '[unknown]' in d.get(f'/flamegraph.svg?{view}'), 'the images show [unknown]')
        check(sorted(d.get('/api/v1/profile?run=shop/blank&format=folded').splitlines()) == sorted(folded.splitlines()), 'the folded format keeps the blank names')
        r = strobe('report', f'{d.url}/runs/shop/blank')
        check(r.stdout.count('[unknown]') == 1, f'{r}')


@test
def error_messages_of_the_daemon_are_passed_on():
    with Directory() as directory, Daemon(directory) as d:
        fill(d)
        r = strobe('report', f'{d.url}/?entry=nobody')
        check(r.returncode == 4 and 'no samples of entry=nobody' in r.stderr and all(e in r.stderr for e in ('; the store holds', 'api.php', 'index.php')),
              f'an empty result is explained: {r}')
        r = strobe('report', f'{d.url}/?from=-1h&base_from=-2h&base_to=now&entry=nobody')
        check(r.returncode == 2 and 'no samples of entry=nobody in' in r.stderr and all(e in r.stderr for e in ('; the store holds', 'entries: ', 'api.php')),
              f'an empty comparison is explained: {r}')
        r = strobe('grep', f'{d.url}/?entry=nobody')
        check(r.returncode == 4 and 'no samples of entry=nobody' in r.stderr, f'{r}')
        r = strobe('report', f'{d.url}/runs/shop/none')
        check(r.returncode == 2 and "there is no run 'none' of source 'shop'" in r.stderr, f'{r}')
        r = strobe('report', f'{d.url}/?from=never')
        check(r.returncode == 2 and 'status 400: from' in r.stderr, f'{r}')
        r = strobe('report', f'{d.url}/runs')
        check(r.returncode == 2 and 'there is no profile at' in r.stderr, f'{r}')
        r = strobe('report', d.url.replace('http', 'https', 1))
        check(r.returncode == 2 and 'TLS' in r.stderr, f'{r}')
    r = strobe('report', d.url)
    check(r.returncode == 2 and f'no daemon answers at {d.url}' in r.stderr, f'{r}')


@test
def the_token_is_read_from_a_file_or_the_environment():
    with Directory() as directory:
        token = f'{directory}/token'
        with open(token, 'w') as f:
            f.write('0123456789abcdef0123456789abcdef\n')
        os.chmod(token, 0o600)
        with Daemon(directory, '--token-file', token) as d:
            s = connect(d.socket)
            s.send(message({('main', 'work'): 3}))
            ask = lambda *o, **e: strobe('collapse', d.url, *o, **e)
            check(wait_for(lambda: ask('--token-file', token).stdout == 'main;work 3\n'), f'{ask("--token-file", token)}')
            for command, *more in (['report'], ['flamegraph'], ['diff', d.url], ['callgraph', '-o', f'{directory}/a.dot'], ['convert', '-f', 'folded'],
                                   ['grep', '--lowercase'], ['import', '--store', f'sqlite:{directory}/other']):
                r = strobe(command, *more, d.url, '--token-file', token)
                check(r.returncode == 0, f'{r}')
                r = strobe(command, *more, d.url)
                check(r.returncode == 2 and 'requires an access token; give --token-file' in r.stderr, f'{r}')
            r = strobe('annotate', d.url, '--token-file', token)
            check(r.returncode == 4 and 'executed lines' in r.stderr, f'{r}')
            check(ask(STROBE_TOKEN='0123456789abcdef0123456789abcdef').stdout == 'main;work 3\n', 'the token in the environment is used')
            r = ask()
            check(r.returncode == 2 and 'requires an access token; give --token-file, or set STROBE_TOKEN' in r.stderr, f'{r}')
            s.close()


main()
