"""`--from runs:/DIR`: a directory to which xhprof_lib or uprofiler_lib writes a file per run."""
import gzip
import json
import os
import shutil
import subprocess
import sys
import threading
import time
import urllib.request

from collector import ConfiguredServer, write_config
from daemon import Daemon
from strobe_test import ROOT, STROBE, Directory, Skip, check, main, test, wait_for

DATA = os.path.join(ROOT, 'tests/data')


def array(wall, names=1):
    return json.dumps({'main()': {'ct': 1, 'wt': wall}, **{f'main()==>f{i}': {'ct': 1, 'wt': 1} for i in range(names)}})


def put(directory, name, text):
    """As file_put_contents() and the save_run() of both libraries: open, write, close."""
    with open(f'{directory}/{name}', 'wb' if isinstance(text, bytes) else 'w') as f:
        f.write(text)


def listed(d, query=''):
    return sorted(f'{r["source"]}/{r["id"]}' for r in json.loads(d.get('/api/v1/runs?limit=1000' + query))['runs'])


def source(d):
    return next(s for s in d.status()['sources'] if s['url'].startswith('runs:'))


def watching(directory, *more, environment=None):
    os.makedirs(f'{directory}/out', exist_ok=True)
    return Daemon(directory, '--from', f'runs:{directory}/out', *more, environment=environment)


@test
def existing_and_new_files_are_imported_with_the_id_and_source_in_their_names():
    with Directory() as directory:
        os.makedirs(f'{directory}/out')
        for name in ('cart.xhprof', 'recursion.xhprof'):
            shutil.copy(f'{DATA}/{name}', f'{directory}/out/{name.split(".")[0]}1.shop.xhprof')
        put(f'{directory}/out', '5f1a.blog.uprofiler', array(700))
        os.utime(f'{directory}/out/5f1a.blog.uprofiler', (1_500_000_000, 1_500_000_000))
        with watching(directory) as d:
            there = ['blog/5f1a', 'shop/cart1', 'shop/recursion1']
            check(wait_for(lambda: listed(d) == there), f'existing files are imported: {listed(d)}')
            put(f'{directory}/out', '6a.shop.xhprof', array(900))
            put(f'{directory}/out', '6b.team.web.xhprof.gz', gzip.compress(array(800).encode()))
            put(f'{directory}/out', 'x.tmp', array(1))
            os.rename(f'{directory}/out/x.tmp', f'{directory}/out/6c.shop.uprofiler.json')
            for other in ('notes.txt', '.6d.shop.xhprof', 'x.tmp'):
                put(f'{directory}/out', other, array(1))
            now = sorted(there + ['shop/6a', 'team.web/6b', 'shop/6c'])
            check(wait_for(lambda: listed(d) == now), f'new files are imported: {listed(d)}')
            runs = {r['id']: r for r in json.loads(d.get('/api/v1/runs'))['runs']}
            check(runs['6a']['totals']['wall_ns'] == 900_000 and runs['6a']['duration_ns'] == 900_000, f'{runs["6a"]}')
            check(runs['5f1a']['start'] + 0.0007 == 1_500_000_000, f'the run ends at the modification time of the file: {runs["5f1a"]["start"]}')
            report = json.loads(subprocess.run([STROBE, 'report', '--json', f'{DATA}/recursion.xhprof'], capture_output=True,
                                               text=True, timeout=60).stdout)
            check(runs['recursion1']['totals']['wall_ns'] == report['total'], 'values match the file')
            s = source(d)
            check(wait_for(lambda: source(d)['files'] == 6) and not sum(s['rejected_files'].values()), f'counted: {source(d)}')
            check(s['up'] and s['state'] == 'watching', f'{s["state"]}')
            check('strobe_run_files_total{source="runs:' in d.get('/metrics'), 'in the metrics')
            check(sorted(os.listdir(f'{directory}/out'))[-3:] == ['notes.txt', 'recursion1.shop.xhprof', 'x.tmp'], 'files are not removed')


# The save_run() of both libraries: a file that is opened, written and closed under its name.
SAVE = """
function work(int $n) { return $n ? strlen(str_repeat('x', $n)) + work($n - 1) : 0; }
foreach (['shop', 'blog'] as $source) {
    tideways_xhprof_enable(TIDEWAYS_XHPROF_FLAGS_MEMORY | TIDEWAYS_XHPROF_FLAGS_CPU);
    for ($i = 0; $i < 50; $i++) work(20);
    $data = tideways_xhprof_disable();
    $id = uniqid();
    $file = fopen(getenv('OUTPUT_DIR') . "/$id.$source.xhprof", 'w');
    fwrite($file, serialize($data));
    fclose($file);
    echo json_encode([$source, $id, $data]), "\\n";
}
"""


@test
def files_saved_by_tideways_xhprof_are_imported_as_runs_with_the_same_totals():
    sys.path.insert(0, os.path.join(ROOT, 'bench'))
    import peers
    extension = peers.peer('tideways_xhprof')
    if not extension:
        raise Skip('tideways_xhprof is not here')
    with Directory() as directory, watching(directory) as d:
        php = subprocess.run(['php', '-n', '-d', f'extension={extension}', '-r', SAVE], capture_output=True, text=True, timeout=60,
                             env={**os.environ, 'OUTPUT_DIR': f'{directory}/out'})
        saved = [json.loads(line) for line in php.stdout.splitlines()]
        check(len(saved) == 2, php.stdout + php.stderr)
        names = sorted(f'{source}/{run}' for source, run, _ in saved)
        check(wait_for(lambda: listed(d) == names), f'{listed(d)}, not {names}')
        totals = {r['id']: r['totals'] for r in json.loads(d.get('/api/v1/runs'))['runs']}
        for _, run, pairs in saved:
            # It does not put all below main(): what nobody called took all that there is. Times are in microseconds.
            roots = [values for pair, values in pairs.items() if '==>' not in pair]
            whole = {key: sum(values[key] for values in roots) for key in ('wt', 'cpu', 'mu', 'pmu')}
            expected = {'calls': sum(values['ct'] for values in pairs.values()), 'wall_ns': whole['wt'] * 1000,
                        'cpu_ns': whole['cpu'] * 1000, 'memory_bytes': whole['mu'], 'peak_memory_bytes': whole['pmu']}
            check({k: totals[run].get(k) for k in expected} == expected, f'{totals[run]}, not {expected}')
        status = urllib.request.urlopen(f'{d.url}/index.php?run={saved[0][1]}&source=shop', timeout=60)
        check(status.url == f'{d.url}/runs/shop/{saved[0][1]}' and b'work' in status.read(), 'the link opens the run')


@test
def a_file_is_imported_once_across_restarts_and_after_its_run_was_deleted():
    with Directory() as directory:
        with watching(directory) as d:
            for i in range(3):
                put(f'{directory}/out', f'{i}.s.xhprof', array(100 + i))
            check(wait_for(lambda: source(d)['files'] == 3), f'{source(d)}')
            urllib.request.urlopen(urllib.request.Request(d.url + '/api/v1/runs/s/1', method='DELETE'))
            check(listed(d) == ['s/0', 's/2'], 'one run is deleted')
            check(d.stop() == 0, 'the daemon exits with 0')
        put(f'{directory}/out', '3.s.xhprof', array(103))
        with watching(directory) as d:
            check(wait_for(lambda: listed(d) == ['s/0', 's/2', 's/3']), f'only files added while stopped are imported: {listed(d)}')
            check(wait_for(lambda: source(d)['files'] == 1) and source(d)['messages'] == 1, f'no file was read again: {source(d)}')
            # The same name with another content is another run of a name that is taken.
            put(f'{directory}/out', '2.s.xhprof', array(999))
            check(wait_for(lambda: d.status()['runs']['dropped']['conflict'] == 1), f'{d.status()["runs"]}')
            check(wait_for(lambda: source(d)['stream']['pending'] == 0),
                  'no file is pending')
            d.process.kill()
            d.process.wait()
        with watching(directory) as d:
            put(f'{directory}/out', '4.s.xhprof', array(104))
            check(wait_for(lambda: 's/4' in listed(d)), f'{listed(d)}')
            check(d.status()['runs']['dropped']['conflict'] == 0, 'no conflict after SIGKILL')


@test
def a_directory_spelled_differently_or_reached_through_a_link_is_the_same_source():
    with Directory() as directory:
        out, config = f'{directory}/out', f'{directory}/c.yaml'
        os.makedirs(out)
        os.symlink(out, f'{directory}/link')
        spellings = [f'runs:{out}/', f'runs:{directory}//out', f'runs:{directory}/./out', f'runs:{directory}/link', f'runs:{directory}/x/../out']
        os.makedirs(f'{directory}/x')

        def configure(*sources):
            write_config(config, **{'from': sources, 'listen': '127.0.0.1:0', 'store': f'sqlite:{directory}/state'})

        configure(f'runs:{out}')
        with ConfiguredServer(directory, config) as d:
            put(out, 'a.s.xhprof', array(1))
            put(out, 'b.s.xhprof', array(2))
            check(wait_for(lambda: source(d)['files'] == 2), f'{source(d)}')
            urllib.request.urlopen(urllib.request.Request(d.url + '/api/v1/runs/s/a', method='DELETE'))
            for i, other in enumerate(spellings):
                configure(other)
                d.hup('reloaded the configuration')
                check(wait_for(lambda: [s['url'] for s in d.status()['sources'] if s['url'].startswith('runs:')] == [other]), other)
                put(out, f'{i}.t.xhprof', array(3))
                check(wait_for(lambda: f't/{i}' in listed(d)) and 's/a' not in listed(d), f'{other}: {listed(d)}')
            for other in spellings:
                configure(f'runs:{out}', other)
                d.hup('was not applied: ')
                check('is already read, perhaps with other parameters; remove one of them' in d.lines[-1], f'{d.lines[-1]}')
            check(wait_for(lambda: source(d)['stream']['pending'] == 0), 'no file is pending')
            check(d.stop() == 0, 'the daemon exits with 0')
        for i, other in enumerate(spellings):
            configure(other)
            with ConfiguredServer(directory, config) as d:
                put(out, f'x{i}.t.xhprof', array(4))
                check(wait_for(lambda: f't/x{i}' in listed(d)) and 's/a' not in listed(d), f'{other} after a restart: {listed(d)}')
                check(wait_for(lambda: source(d)['stream']['pending'] == 0), 'no file is pending')


@test
def a_retargeted_link_uses_the_import_list_of_each_directory():
    with Directory() as directory:
        for name in 'a', 'b':
            os.makedirs(f'{directory}/{name}')
            put(f'{directory}/{name}', f'{name}.s.xhprof', array(1))
        os.symlink('a', f'{directory}/out')
        with watching(directory) as d:
            check(wait_for(lambda: source(d)['files'] == 1), f'{source(d)}')
            os.symlink('b', f'{directory}/new')
            os.rename(f'{directory}/new', f'{directory}/out')
            check(wait_for(lambda: source(d)['files'] == 2), f'{source(d)}')
            for name in 'a', 'b':
                urllib.request.urlopen(urllib.request.Request(f'{d.url}/api/v1/runs/s/{name}', method='DELETE'))
            check(d.stop() == 0, 'the daemon exits with 0')
        with watching(directory) as d:
            put(f'{directory}/out', 'c.s.xhprof', array(1))
            check(wait_for(lambda: listed(d) == ['s/c']), f'the list of the second directory is used: {listed(d)}')
            os.symlink('a', f'{directory}/new')
            os.rename(f'{directory}/new', f'{directory}/out')
            put(f'{directory}/out', 'd.s.xhprof', array(1))
            check(wait_for(lambda: listed(d) == ['s/c', 's/d']), f'the list of the first directory is used: {listed(d)}')


@test
def an_import_list_under_an_older_name_is_still_used():
    """Lists were named after the path as it was configured: here that of a link, where the directory was at first."""
    with Directory() as directory:
        with watching(directory) as d:
            put(f'{directory}/out', 'a.s.xhprof', array(1))
            check(wait_for(lambda: source(d)['files'] == 1), f'{source(d)}')
            urllib.request.urlopen(urllib.request.Request(d.url + '/api/v1/runs/s/a', method='DELETE'))
            check(d.stop() == 0, 'the daemon exits with 0')
        os.rename(f'{directory}/out', f'{directory}/real')
        os.symlink('real', f'{directory}/out')
        with watching(directory) as d:
            put(f'{directory}/out', 'b.s.xhprof', array(1))
            check(wait_for(lambda: listed(d) == ['s/b']), f'{listed(d)}')
            check(wait_for(lambda: source(d)['stream']['pending'] == 0), 'no file is pending')
            check(d.stop() == 0, 'the daemon exits with 0')
        with Daemon(directory, '--from', f'runs:{directory}/real') as d:
            put(f'{directory}/out', 'c.s.xhprof', array(1))
            check(wait_for(lambda: listed(d) == ['s/b', 's/c']), f'the list is used under its own path: {listed(d)}')


@test
def a_file_is_not_imported_before_it_is_complete():
    with Directory() as directory, watching(directory) as d:
        text = array(500, 5000)
        with open(f'{directory}/out/1.s.xhprof', 'w') as f:
            f.write(text[:len(text) // 2])
            f.flush()
            put(f'{directory}/out', '2.s.xhprof', array(1))
            check(wait_for(lambda: listed(d) == ['s/2']), 'other files are imported')
            # Longer than a file must be quiet, so that a look has tried to read it.
            before = os.path.getmtime(f'{directory}/out/1.s.xhprof')
            check(wait_for(lambda: time.time() > before + 5) and listed(d) == ['s/2'], f'an incomplete file is not imported: {listed(d)}')
            f.write(text[len(text) // 2:])
        check(wait_for(lambda: listed(d) == ['s/1', 's/2']), f'the complete file is imported: {listed(d)}')
        check(not sum(source(d)['rejected_files'].values()), f'nothing was rejected: {source(d)["rejected_files"]}')


@test
def invalid_run_files_are_rejected_once_logged_and_counted():
    with Directory() as directory:
        os.makedirs(f'{directory}/out')
        secret = f'{directory}/secret'
        put(directory, 'secret', array(66))
        os.symlink(secret, f'{directory}/out/link.s.xhprof')
        os.mkfifo(f'{directory}/out/pipe.s.xhprof')
        os.makedirs(f'{directory}/out/dir.s.xhprof')
        with open(f'{directory}/out/huge.s.xhprof', 'w') as f:
            f.truncate((64 << 20) + 1)
        put(f'{directory}/out', 'bad.s.xhprof', 'a:1:{s:6:"main()";a:1:{s:2:"ct"')
        put(f'{directory}/out', 'empty.s.xhprof', '')
        put(f'{directory}/out', 'png.s.xhprof', b'\x89PNG and so on')
        put(f'{directory}/out', 'none.s.xhprof', '{}')
        put(f'{directory}/out', 'a b.s.xhprof', array(1))
        put(f'{directory}/out', '\x1b[31m.s.xhprof', array(1))
        put(f'{directory}/out', 'noname.xhprof', array(1))
        put(f'{directory}/out', 'bomb.s.xhprof.gz', gzip.compress(b'x;y 1\n' * (50 << 20)))
        for name in os.listdir(f'{directory}/out'):
            os.utime(f'{directory}/out/{name}', (1_600_000_000, 1_600_000_000), follow_symlinks=False)
        expected = {'name': 3, 'link': 1, 'kind': 1, 'large': 2, 'damaged': 3, 'unreadable': 0}
        with watching(directory) as d:
            check(wait_for(lambda: source(d)['rejected_files'] == expected, 120), f'{source(d)["rejected_files"]}')
            put(f'{directory}/out', 'good.s.xhprof', array(1))
            check(wait_for(lambda: listed(d) == ['s/good']), f'the good one is imported: {listed(d)}')
            said = [line for line in d.lines if 'was not imported' in line]
            check(len(said) == 1 and f"in '{directory}/out' was not imported: " in said[0], f'{said}')
            check(not any('\x1b' in line for line in d.lines), 'no control characters in the log')
            check('strobe_run_files_rejected_total{source="runs:' in d.get('/metrics'), 'in the metrics')
            check(wait_for(lambda: source(d)['files'] == 1), 'rejected files are not pending')
            status = subprocess.run([STROBE, 'status', '--url', d.url], capture_output=True, text=True, timeout=60)
            check('1 file imported (rejected: ' in status.stdout and 'damaged 3' in status.stdout, status.stdout + status.stderr)
            check(d.stop() == 0, 'the daemon exits with 0')
        with watching(directory) as d:
            put(f'{directory}/out', 'more.s.xhprof', array(1))
            check(wait_for(lambda: 's/more' in listed(d)), 'new files are imported after a restart')
            check(not sum(source(d)['rejected_files'].values()), f'nothing is rejected again: {source(d)["rejected_files"]}')
            with open(f'{directory}/out/c d.s.xhprof', 'w') as f:
                for part in '{', '', '}':
                    f.write(part)
                    f.flush()
                    time.sleep(0.3)
            put(f'{directory}/out', 'last.s.xhprof', array(1))
            check(wait_for(lambda: 's/last' in listed(d)), 'later files are imported')
            check(source(d)['rejected_files']['name'] == 1, f'a slowly written file is rejected once: {source(d)["rejected_files"]}')


@test
def a_directory_may_appear_later_disappear_or_be_replaced():
    with Directory() as directory, Daemon(directory, '--from', f'runs:{directory}/out') as d:
        check(wait_for(lambda: source(d)['state'].startswith('waiting for the directory')), source(d)['state'])
        os.makedirs(f'{directory}/out')
        put(f'{directory}/out', '1.s.xhprof', array(1))
        check(wait_for(lambda: listed(d) == ['s/1']), f'{listed(d)}')
        shutil.rmtree(f'{directory}/out')
        os.makedirs(f'{directory}/out')
        put(f'{directory}/out', '2.s.xhprof', array(2))
        check(wait_for(lambda: listed(d) == ['s/1', 's/2']), f'{listed(d)}')
        shutil.rmtree(f'{directory}/out')
        with open(f'{directory}/out', 'w'):
            pass
        sentence = f"cannot read the directory '{directory}/out': Not a directory; retrying"
        check(wait_for(lambda: any(sentence in line for line in d.lines)), f'another reason is logged: {d.lines}')
        os.unlink(f'{directory}/out')
        os.makedirs(f'{directory}/out')
        put(f'{directory}/out', '3.s.xhprof', array(3))
        check(wait_for(lambda: listed(d) == ['s/1', 's/2', 's/3']), f'{listed(d)}')
        check(sum(sentence in line for line in d.lines) == 1, f'only once: {d.lines}')


@test
def without_inotify_files_are_found_by_scanning():
    with Directory() as directory:
        d = watching(directory)
        d.command = ['unshare', '--user', '--map-root-user', 'sh', '-c',
                     'echo 0 > /proc/sys/user/max_inotify_instances && exec "$@"', 'sh', *d.command]
        if subprocess.run([*d.command[:5], 'echo 0 > /proc/sys/user/max_inotify_instances'], capture_output=True).returncode:
            raise Skip('user namespaces are not permitted here')
        with d:
            check(wait_for(lambda: source(d)['state'].startswith('scanning every')), source(d)['state'])
            put(f'{directory}/out', '1.s.xhprof', array(1))
            os.makedirs(f'{directory}/out/sub')
            check(wait_for(lambda: listed(d) == ['s/1']), f'{listed(d)}')
            check(any('inotify does not report new files' in line for line in d.lines), f'{d.lines}')


@test
def more_files_than_the_queue_holds_are_imported_while_others_arrive():
    """So that a look has to wait for room. In suite long there are more than a thousand, for which no variable is needed."""
    if os.environ.get('STROBE_TEST_IN_FULL'):
        first, queue = 1050, {}
    else:
        first, queue = 150, {'STROBE_RUN_FILES_QUEUED': '100'}
    with Directory() as directory:
        os.makedirs(f'{directory}/out')
        for i in range(first):
            put(f'{directory}/out', f'{i}.s.xhprof', array(i + 1))
            os.utime(f'{directory}/out/{i}.s.xhprof', (1_600_000_000 + i,) * 2)
        with watching(directory, environment=queue) as d:
            writer = threading.Thread(target=lambda: [put(f'{directory}/out', f'{i}.t.uprofiler', array(i + 1)) for i in range(50)])
            writer.start()
            check(wait_for(lambda: d.status()['store']['runs'] == first + 50, 600), f'{d.status()["store"]["runs"]} runs')
            writer.join()
            check(wait_for(lambda: source(d)['files'] == first + 50) and source(d)['messages'] == first + 50, f'each is counted once: {source(d)}')


@test
def invalid_urls_are_rejected_with_an_error():
    with Directory() as directory:
        put(directory, 'file', '')
        for url, sentence in {'runs:': 'needs the absolute path', 'runs:out': 'needs the absolute path',
                              f'runs:{directory}/file': 'is not a directory', f'runs:{directory}?x=1': "unknown parameter 'x'; runs: takes"}.items():
            r = subprocess.run([STROBE, 'serve', '--listen', '127.0.0.1:0', '--store', f'sqlite:{directory}/state', '--from', url],
                               capture_output=True, text=True, timeout=60)
            check(r.returncode == 2 and sentence in r.stderr, f'{url}: {r.returncode} {r.stderr}')


main()
