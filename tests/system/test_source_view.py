"""The source of a function on its page: which lines took what, and that no other file of the machine is ever shown."""
import json
import os
import re
import subprocess
import urllib.error
import urllib.parse
import urllib.request

from daemon import Daemon
from lined_script import MOVED, OWN, need_extension, run, sample, strobe, write_script
from strobe_test import STROBE, Directory, check, main, test, wait_for


def address(path, **parameters):
    return f'{path}?{urllib.parse.urlencode(parameters)}'


def ask(daemon, **parameters):
    return json.loads(daemon.get(address('/api/v1/source', **parameters)))


def refused(daemon, **parameters):
    try:
        ask(daemon, **parameters)
    except urllib.error.HTTPError as e:
        return e.code, json.loads(e.read())['error']
    raise AssertionError(f'{parameters} was answered')


def took(answer, side=0):
    return {line['line']: (line['self'][side], line['total'][side]) for line in answer['lines'] if any(line['total']) or any(line['self'])}


def annotated(profile, target):
    found = json.loads(strobe('annotate', profile, target, '--json'))
    return {line['line']: (line['self'], line['total']) for line in found['lines'] if line['self'] or line['total']}


def speedscope(path, frames):
    """A profile of one stack, as a stranger may have made it: a name, a file and the executed line."""
    with open(path, 'w', encoding='utf-8') as f:
        json.dump({'$schema': 'https://www.speedscope.app/file-format-schema.json',
                   'shared': {'frames': [{'name': n, 'file': p, 'line': line} for n, p, line in frames]},
                   'profiles': [{'type': 'sampled', 'name': 'samples', 'unit': 'none', 'startValue': 0, 'endValue': 7,
                                 'samples': [list(range(len(frames)))], 'weights': [7]}],
                   'strobe_starts': [0] * len(frames)}, f)
    return path


def add(directory, source, run_id, profile):
    strobe('import', '--source', source, '--id', run_id, '--store', f'sqlite:{directory}/state', profile)


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, 'w', encoding='utf-8') as f:
        f.write(text)
    return path


@test
def executed_lines_of_sampled_traffic_are_shown_beside_the_source():
    need_extension()
    with Directory() as d, Daemon(d, '--source-dir', d) as daemon:
        script = write_script(d)
        sample(daemon.socket, script)
        wait_for(lambda: daemon.status()['samples']['stored'] > 900)
        now = json.loads(daemon.get('/api/v1/status'))['now']
        fixed = {'from': int(now) - 3600, 'to': int(now) + 60}
        answer = ask(daemon, function='Digest::both', **fixed)
        check(answer['file'] == script and answer['start'] == 5 and (answer['why'] is None or 'modified' in answer['why']), f'{answer}')
        whole = sum(v[0] for n, v in took(answer).items() if n in OWN)
        for line, part in OWN.items():
            share = took(answer)[line][0] / whole
            check(abs(share - part / sum(OWN.values())) < MOVED, f'line {line}: {share}')
        lines = {line['line']: line for line in answer['lines']}
        with open(script, encoding='utf-8') as f:
            text = f.read().splitlines()
        check(all(line['text'] == text[n - 1] for n, line in lines.items()), f'{lines}')
        check([n for n, line in lines.items() if line['hot']] == [9], f'{answer}')
        # The same numbers as the command line has, from the same samples.
        with open(f'{d}/day.strobe', 'wb') as f, urllib.request.urlopen(daemon.url + address('/api/v1/profile', format='strobe', **fixed)) as r:
            f.write(r.read())
        check(took(answer) == annotated(f'{d}/day.strobe', 'Digest::both'), f'{took(answer)}')
        whole_file = ask(daemon, function=script, by='file', **fixed)
        check(took(whole_file) == annotated(f'{d}/day.strobe', script), f'{took(whole_file)}')
        check(len(whole_file['lines']) == len(text), 'the whole file is shown')
        # Functions are what they are without lines.
        plain = json.loads(daemon.get(address('/api/v1/function', function='Digest::both', **fixed)))
        check(plain['function']['total'][0] == answer['total'][0], f'{plain["function"]} {answer["total"]}')
        page = daemon.get(address('/', function='Digest::both', **fixed))
        check('<tr id="L9" class="hot">' in page and 'href="#L9"' in page and '<code>&#9;&#9;&#9;$s = md5($this-&gt;data . ' in page, page)
        check('id="source"' not in daemon.get(address('/', function='Digest::both', lines=0, **fixed)), 'lines=0 omits the source')
        rows = json.loads(daemon.get(address('/api/v1/table', by='line', **fixed)))
        check(f'{script}:9' in rows['name'] and f'{script}:8' in rows['name'], f'by executed line: {rows["name"]}')


@test
def runs_averages_and_comparisons_show_the_source():
    need_extension()
    with Directory() as d, Daemon(d, '--source-dir', d) as daemon:
        script = write_script(d)
        first = run(d, script)
        os.rename(first, f'{d}/first.strobe')
        second = run(d, script)
        add(d, 'shop', 'first', f'{d}/first.strobe')
        add(d, 'shop', 'second', second)
        before, after = annotated(f'{d}/first.strobe', 'Digest::both'), annotated(second, 'Digest::both')
        one = ask(daemon, run='shop/first', function='Digest::both')
        check(took(one) == before and one['source'] == 'unchanged', f'{one}')
        both = ask(daemon, run='shop/second', base='shop/first', function='Digest::both', scale='none')
        check({n: v for n, v in took(both, 0).items() if any(v)} == before and {n: v for n, v in took(both, 1).items() if any(v)} == after, f'{both}')
        scaled = ask(daemon, run='shop/second', base='shop/first', function='Digest::both', scale='total')
        factor = scaled['compared']['factor']
        check(all(abs(v[0] - before.get(n, (0, 0))[0] * factor) <= 0.5 for n, v in took(scaled, 0).items()), f'{factor} {scaled}')
        with urllib.request.urlopen(daemon.url + address('/', run='shop/second', base='shop/first', function='Digest::both')) as r:
            page = r.read().decode()
        check('<th scope="col">self before</th><th scope="col">self after</th>' in page, page)
        average = json.loads(daemon.get('/api/v1/source?run=shop/first&run=shop/second&weights=3,1&function=Digest::both'))
        for line, (own, _) in took(average).items():
            exact = (3 * before.get(line, (0, 0))[0] + after.get(line, (0, 0))[0]) / 4
            check(abs(own / 1e6 - exact) <= 4e-6, f'{line}: {own} millionths, {exact}: each of up to four stacks is rounded')


@test
def a_function_that_moved_is_compared_line_by_line():
    with Directory() as d, Daemon(d, '--source-dir', d) as daemon:
        # pprof has both the first line of a function and the executed one; here the start comes of the native format.
        for run_id, start in (('old', 10), ('new', 14)):
            write(f'{d}/{run_id}.php', '<?php\n' * 40)
            subprocess.run(['php', '-n', '-r', PPROF, f'{d}/{run_id}.pb', f'{d}/x.php', str(start), str(start + 2)], check=True)
            add(d, 'shop', run_id, f'{d}/{run_id}.pb')
        write(f'{d}/x.php', '<?php\n' * 40)
        answer = ask(daemon, run='shop/new', base='shop/old', function='work', scale='none')
        check(answer['start'] == 14 and took(answer) == {16: (5, 5)} and took(answer, 1) == {16: (5, 5)}, f'{answer}')
        write(f'{d}/src/x.php', '<?php\n' * 40)
        subprocess.run(['php', '-n', '-r', PPROF, f'{d}/moved.pb', f'{d}/src/x.php', '14', '16'], check=True)
        add(d, 'shop', 'moved', f'{d}/moved.pb')
        for file in f'{d}/x.php', f'{d}/src/x.php', '':
            answer = ask(daemon, run='shop/moved', base='shop/old', function='work', scale='none', function_file=file)
            check(answer['file'] == f'{d}/src/x.php' and took(answer) == {16: (5, 5)} and took(answer, 1) == {16: (5, 5)},
                  f'known by its file {file or "of no side"}: {answer}')


# A profile of one sample type and one stack: argv is the output, the file, the function's first line, and the executed line.
PPROF = r'''
function varint($n) { for ($s = ''; $n > 127; $n >>= 7) $s .= chr($n & 127 | 128); return $s . chr($n); }
function number($f, $n) { return varint($f << 3) . varint($n); }
function bytes($f, $b) { return varint($f << 3 | 2) . varint(strlen($b)) . $b; }
[, $out, $file, $start, $line] = $argv;
file_put_contents($out, bytes(1, number(1, 1) . number(2, 2)) . bytes(2, bytes(1, varint(1)) . bytes(2, varint(5)))
    . bytes(4, number(1, 1) . bytes(4, number(1, 1) . number(2, $line)))
    . bytes(5, number(1, 1) . number(2, 3) . number(4, 4) . number(5, $start))
    . bytes(6, '') . bytes(6, 'samples') . bytes(6, 'count') . bytes(6, 'work') . bytes(6, $file));
'''


@test
def files_outside_the_source_directories_are_not_shown():
    with Directory() as d, Daemon(d, '--source-dir', f'{d}/app') as daemon:
        write(f'{d}/secret.php', '<?php // the secret')
        write(f'{d}/app/ok.php', '<?php // shown')
        write(f'{d}/app/.env', 'PASSWORD=the secret')
        os.symlink(f'{d}/secret.php', f'{d}/app/absolute.php')
        os.symlink('../secret.php', f'{d}/app/relative.php')
        os.mkfifo(f'{d}/app/pipe.php')
        paths = [f'{d}/secret.php', f'{d}/app/../secret.php', f'{d}/app/absolute.php', f'{d}/app/relative.php', f'{d}/app/pipe.php',
                 f'{d}/app/.env', '/etc/passwd', '/proc/self/environ', f'{d}/app', 'secret.php', '../secret.php', f'file://{d}/secret.php',
                 f'{d}/app/ok.php%00.php', f'{d}/app/\u202eok.php', f'{d}/state/runs.sqlite']
        for i, path in enumerate(paths):
            add(d, 'forged', str(i), speedscope(f'{d}/{i}.speedscope.json', [('work', path, 1)]))
            answer = ask(daemon, run=f'forged/{i}', function='work')
            check(answer['source'] == 'missing' and answer['why'].startswith('source not available: '), f'{path}: {answer}')
            check(all(line['text'] is None for line in answer['lines']), f'{path}: {answer}')
            check('secret' not in daemon.get(f'/runs/forged/{i}?function=work').replace('secret.php', ''), path)
        add(d, 'forged', 'ok', speedscope(f'{d}/ok.speedscope.json', [('work', f'{d}/app/ok.php', 1)]))
        check(ask(daemon, run='forged/ok', function='work')['lines'][0]['text'] == '<?php // shown', 'the permitted file is shown')
        # A file that the profile does not have is none that can be asked for, whatever the address says.
        for parameters in ({'function': f'{d}/app/ok.php'}, {'by': 'file'}, {'function': 'work', 'file': f'{d}/app/ok.php', 'by': 'file'},
                           {'function': f'{d}/app/.env', 'by': 'file'}, {'function': f'{d}/secret.php:1', 'by': 'line'}):
            code, why = refused(daemon, **{'run': 'forged/ok', **parameters})
            check(code in (400, 404), f'{parameters}: {code} {why}')
        check(ask(daemon, run='forged/ok', by='line', function=f'{d}/app/ok.php:1')['lines'][0]['text'], 'by line')


@test
def missing_or_modified_source_is_reported_with_a_remedy():
    with Directory() as d, Daemon(d, '--source-dir', f'{d}/app', '--source-dir', f'/srv/release={d}/checkout') as daemon:
        profile = lambda name, path, line: add(d, 'shop', name, speedscope(f'{d}/{name}.speedscope.json', [('work', path, line)]))
        write(f'{d}/app/short.php', '<?php\nwork();\n')
        write(f'{d}/checkout/a/b.php', '<?php // the checkout')
        profile('short', f'{d}/app/short.php', 40)
        profile('gone', f'{d}/app/gone.php', 2)
        profile('elsewhere', '/opt/site/src/work.php', 2)
        profile('mapped', '/srv/release/a/b.php', 1)
        profile('none', '', 1)
        short = ask(daemon, run='shop/short', function='work')
        check(short['source'] == 'changed' and 'the source has 2 lines, but the profile refers to line 40' in short['why'] and '--source-dir' in short['why'], f'{short}')
        check(short['lines'][-1]['line'] == 40 and short['lines'][-1]['text'] is None and short['lines'][-1]['self'] == [7], f'{short}')
        check('past the end of the file' in daemon.get('/runs/shop/short?function=work'), 'the page')
        gone = ask(daemon, run='shop/gone', function='work')
        check(f'--source-dir {d}/app=' in gone['why'] and gone['lines'][0]['self'] == [7], f'{gone}')
        elsewhere = ask(daemon, run='shop/elsewhere', function='work')
        check('--source-dir /opt/site/src' in elsewhere['why'], f'{elsewhere}')
        check(ask(daemon, run='shop/mapped', function='work')['lines'][0]['text'] == '<?php // the checkout', 'a mapped directory is used')
        none = ask(daemon, run='shop/none', function='work')
        check(none['file'] is None and none['lines'][0]['text'] is None and 'no file is known' in none['why'], f'{none}')
        add(d, 'shop', 'some', speedscope(f'{d}/some.speedscope.json', [('main', f'{d}/app/short.php', 0), ('work', f'{d}/app/short.php', 2), ('strlen', '', 0)]))
        some = ask(daemon, run='shop/some', function=f'{d}/app/short.php [no line]', by='line')
        check(some['file'] == f'{d}/app/short.php' and took(some) == {2: (7, 7)} and 'these are the known lines of its file' in some['why'], f'{some}')
        for by in ('line', 'file'):
            nowhere = ask(daemon, run='shop/some', function='[no file]', by=by)
            check(nowhere['file'] is None and 'no file is known' in nowhere['why'], f'{nowhere}')
        code, why = refused(daemon, run='shop/short', function='play')
        check(code == 404 and "no function 'play'" in why, why)
        code, why = refused(daemon, run='shop/short', function='App', by='class')
        check(code == 404 and "no class 'App'" in why, why)
        for by in ('namespace', 'package'):
            code, why = refused(daemon, run='shop/short', function='App', by=by)
            check(code == 400 and f'by={by}: source is shown by function, own, class, file and line' in why, why)
    with Directory() as d, Daemon(d) as daemon:
        add(d, 'shop', 'a', speedscope(f'{d}/a.speedscope.json', [('work', '/srv/app/work.php', 2)]))
        answer = ask(daemon, run='shop/a', function='work')
        check('may show no files; start it with --source-dir /srv/app' in answer['why'] and took(answer) == {2: (7, 7)}, f'{answer}')


@test
def hostile_names_and_source_are_escaped():
    with Directory() as d, Daemon(d, '--source-dir', d) as daemon:
        name = '"><script>alert(1)</script>'
        path = write(f'{d}/<img src=x onerror=alert(1)>/\'".php', '<?php </code><script>alert(1)</script>\r\n\x1b[31m\u202e\xff\tend\n')
        add(d, 'shop', 'a', speedscope(f'{d}/a.speedscope.json', [(name, path, 2)]))
        page = daemon.get(address('/runs/shop/a', function=name))
        check('<script>alert' not in page and '<img' not in page and '&lt;/code&gt;&lt;script&gt;' in page, page)
        check('\x1b' not in page and '\u202e' not in page and '\ufffd[31m\ufffd' in page, page)
        answer = ask(daemon, run='shop/a', function=name)
        check(answer['lines'][0]['text'] == '<?php </code><script>alert(1)</script>' and '\tend' in answer['lines'][1]['text'], f'{answer}')


@test
def source_directories_are_read_from_the_configuration_file_and_must_be_absolute():
    with Directory() as d:
        write(f'{d}/app/a.php', '<?php // shown')
        write(f'{d}/strobe.yaml', f'source-dir:\n  - {d}/app\n')
        with Daemon(d, '-c', f'{d}/strobe.yaml') as daemon:
            add(d, 'shop', 'a', speedscope(f'{d}/a.speedscope.json', [('work', f'{d}/app/a.php', 1)]))
            check(ask(daemon, run='shop/a', function='work')['lines'][0]['text'] == '<?php // shown', 'read from the configuration file')
            write(f'{d}/strobe.yaml', f'source-dir:\n  - {d}\n')
            daemon.process.send_signal(1)
            wait_for(lambda: any('source-dir' in line and 'restart' in line for line in daemon.lines))
        write(f'{d}/strobe.yaml', 'source-dir:\n  - app\n')
        r = subprocess.run([STROBE, 'serve', '-c', f'{d}/strobe.yaml', '--store', f'sqlite:{d}/other'], capture_output=True, text=True, timeout=20)
        check(r.returncode == 1 and re.search(r"strobe\.yaml:2: invalid 'source-dir: app'; use an absolute path", r.stderr), r.stderr)


@test
def a_missing_source_directory_is_logged_at_startup():
    with Directory() as d, Daemon(d, '--source-dir', d, '--source-dir', f'/srv/app={d}/checkout') as daemon:
        said = [line for line in daemon.lines if 'source-dir' in line]
        check(len(said) == 1 and f"the directory of source-dir '/srv/app={d}/checkout' does not exist" in said[0], said)


if __name__ == '__main__':
    main()
