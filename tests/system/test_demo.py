#!/usr/bin/env python3
"""The first command of the README, as a newcomer runs it: `make run ONCE=1` in a copy of the tree that was never built.

The copy lies under a path with blanks that is too long for a unix socket, since checkouts do lie in such places.
"""
import glob
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
import xml.parsers.expat

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
NAME = 'a fresh clone in a folder with a name as long as people give them when nobody stops them, over a hundred bytes'
failed = 0


def check(holds, sentence, remark=''):
    global failed
    if not holds:
        failed += 1
        if remark:
            print('\n'.join('# ' + line for line in str(remark).splitlines()[-60:]))
    print(f"{'ok' if holds else 'not ok'} - {sentence}", flush=True)
    return holds


def text_of(path):
    with open(path, encoding='utf-8', errors='replace') as f:
        return f.read()


def copy_tree(target):
    """The files that git would hand out, and those not committed yet."""
    files = subprocess.run(['git', '-C', ROOT, 'ls-files', '-z', '-co', '--exclude-standard'], capture_output=True)
    if files.returncode == 0:
        names = os.fsdecode(files.stdout).split('\0')
    else:
        names = [os.path.relpath(os.path.join(d, f), ROOT) for d, _, fs in os.walk(ROOT) for f in fs
                 if not re.match(r'(build|var|\.git|web/node_modules)(/|$)', os.path.relpath(d, ROOT))]
    for name in filter(None, names):
        source = os.path.join(ROOT, name)
        if os.path.isfile(source):
            os.makedirs(os.path.dirname(os.path.join(target, name)), exist_ok=True)
            shutil.copy2(source, os.path.join(target, name))


def environment(**more):
    env = {k: v for k, v in os.environ.items() if not k.startswith('STROBE') and not k.startswith('MAKE')}
    return dict(env, **more)


def demo(tree, **more):
    """Returns exit code, output and seconds of `make run ONCE=1`."""
    start = time.monotonic()
    r = subprocess.run(['make', 'run', 'ONCE=1'], cwd=tree, env=environment(**more), stdin=subprocess.DEVNULL,
                       stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors='replace', timeout=900)
    return r.returncode, r.stdout, time.monotonic() - start


def left_over(tree):
    """Processes of the demo in that tree."""
    found = []
    for path in glob.glob('/proc/[0-9]*/cmdline'):
        try:
            with open(path, 'rb') as f:
                command = f.read().replace(b'\0', b' ').decode('utf-8', 'replace')
            cwd = os.readlink(path.replace('cmdline', 'cwd'))
        except OSError:
            continue
        pid = int(path.split('/')[2])
        if pid != os.getpid() and (tree in command or cwd.startswith(tree)):
            found.append(f'{pid} {command}')
    return found


def gone(tree, seconds=60):
    """Waits for processes that are told to end by the kernel."""
    end = time.monotonic() + seconds
    while left_over(tree) and time.monotonic() < end:
        time.sleep(0.1)
    return left_over(tree)


def listens(port):
    with socket.socket() as s:
        return s.connect_ex(('127.0.0.1', port)) == 0


def ports(output):
    return sorted({int(p) for p in re.findall(r'http://127\.0\.0\.1:(\d+)/', output)})


def well_formed(path):
    if shutil.which('xmllint'):
        r = subprocess.run(['xmllint', '--noout', '--huge', path], capture_output=True, text=True)
        return r.returncode == 0, r.stderr
    try:
        with open(path, 'rb') as f:
            xml.parsers.expat.ParserCreate().ParseFile(f)
        return True, ''
    except (OSError, xml.parsers.expat.ExpatError) as e:
        return False, e


def temporary():
    """Directories that demos make when a path is too long for a socket."""
    return set(glob.glob('/tmp/strobe-demo-*'))


def first_run(tree):
    before = temporary()
    code, output, _ = demo(tree)
    if not check(code == 0, 'make run ONCE=1 in a fresh tree builds, serves, samples, draws and exits with 0', output):
        return False
    picture = os.path.join(tree, 'var', 'demo', 'flamegraph.svg')
    check(picture in output, 'the output names the path of the flame graph', output)
    fine, why = well_formed(picture)
    check(fine, 'the flame graph is well-formed', why)
    with open(picture, encoding='utf-8', errors='replace') as f:
        svg = f.read()
    check(all(name in svg for name in ('doku.php', 'p_wiki_xhtml', 'GeSHi')), "the flame graph shows DokuWiki's functions")
    outside = {name: os.path.join(tree, 'var', 'demo', name) for name in ('system.svg', 'off-cpu.svg', 'file-io.svg', 'perl.svg')}
    if 'From outside: skipped: ' not in output:
        check(all(path in output and well_formed(path)[0] for name, path in outside.items() if name != 'perl.svg'),
              'the site is sampled from outside: on CPU, off CPU and file I/O', output)
        check('inc/init.php' in text_of(outside['file-io.svg']), 'the file I/O graph shows files of the wiki')
        check('start_thread' not in text_of(outside['off-cpu.svg']), 'the off-CPU graph omits the threads of the extension')
    if 'A Perl program: skipped: ' not in output:
        check('Pod::Simple' in text_of(outside['perl.svg']), 'the flame graph of a Perl program shows its subs', output)
    by_self, _, by_total = output.partition('with the most total time')
    check(re.search(r'\bGeSHi::|\bpreg_\w+|\bDoku_|\bdokuwiki\\', by_self) is not None,
          'the functions with the most self time belong to the wiki', by_self)
    check('doku.php' in by_total, 'the script is among the functions with the most total time', by_total)
    check(set(links(output)) >= {'On the web', 'A function', 'One request', 'Compared'}, 'the output links to all pages', output)
    check(ports(output) and not any(listens(p) for p in ports(output)), 'no server is left listening', output)
    check(not gone(tree), 'no process is left running', left_over(tree))
    check(not temporary() - before, 'no file is left in /tmp', temporary() - before)
    return True


def second_run(tree):
    code, output, seconds = demo(tree)
    check(code == 0 and 'from an earlier run' in output, 'the second run reuses the wiki of the first', output)
    print(f'# the second run took {seconds:.1f} s (20 s is the aim)')


def no_samples(tree):
    """php.ini of a machine where no request is chosen for sampling."""
    scan = os.path.join(tree, 'var', 'ini')
    os.makedirs(scan, exist_ok=True)
    with open(os.path.join(scan, 'zz-rate.ini'), 'w', encoding='utf-8') as f:
        f.write('strobe.request_rate=0\n')
    for _ in range(3):
        code, output, _ = demo(tree, PHP_INI_SCAN_DIR=f':{scan}', SECONDS_OF_LOAD='2')
        # The wiki's cache goes by whole seconds; on a slow machine a page may be an older one. That is not the matter here.
        if 'answers of the site were wrong' not in output:
            break
    check(code != 0 and 'no sample arrived from' in output and 'messages' in output,
          'a run without samples fails and reports what the daemon received', output)
    check(not gone(tree), 'a run without samples leaves no process running', left_over(tree))


def start_and_wait(tree):
    """A running demo; returns it and its output so far, once it serves."""
    log = os.path.join(tree, 'var', 'demo.log')
    with open(log, 'w', encoding='utf-8') as out:
        process = subprocess.Popen([os.path.join(tree, 'demo', 'run')], env=environment(SECONDS_OF_LOAD='2', ONCE=''),
                                   stdin=subprocess.DEVNULL, stdout=out, stderr=out)
    end = time.monotonic() + 300
    output = ''
    while process.poll() is None and time.monotonic() < end and 'Ctrl-C' not in output:
        time.sleep(0.2)
        with open(log, encoding='utf-8', errors='replace') as f:
            output = f.read()
    return process, output


def links(output):
    """The pages that it names, by the word in front."""
    return {word: address for word, address in re.findall(r'^([A-Z][\w ]+): +(http://\S+)', output, re.M)}


def pages(output):
    """They show what they are named for: sampled traffic, source, a traced request, a comparison; without scripts."""
    named = links(output)
    for word, parts in {'On the web': ['doku.php', 'Flame graph'], 'A function': ['<table class="source">', 'class="hot"', 'Callers'],
                        'One request': ['Flame graph', 'purge=true', '<dt>calls</dt>'], 'Compared': ['compared with', 'before</th>', 'after</th>', 'change</th>']}.items():
        if not check(word in named, f'the output links to the page "{word}"', output):
            continue
        with urllib.request.urlopen(named[word].partition('#')[0], timeout=60) as answer:
            text = answer.read().decode('utf-8', 'replace')
        check(all(part in text for part in parts), f'the page "{word}" shows its content', text[-3000:])
    with urllib.request.urlopen(named['On the web'] + 'api/v1/profile?format=chart&run=' + named['One request'].partition('/runs/')[2].partition('#')[0], timeout=60) as answer:
        check(len(answer.read()) > 1000, 'the traced request has a flame chart')


def stopped_by(tree, number, status, sentence):
    process, output = start_and_wait(tree)
    try:
        if number == signal.SIGINT:
            pages(output)
        if not check(len(ports(output)) == 2 and all(listens(p) for p in ports(output)),
                     f'the demo keeps serving the site and the page ({signal.Signals(number).name})', output):
            return
        process.send_signal(number)
        code = process.wait(60)
        check(code == status and not gone(tree) and not any(listens(p) for p in ports(output)), sentence,
              f'status {code}; left: {left_over(tree)}')
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()


def main():
    needed = ['make', 'php', 'nginx', 'meson', 'ninja']
    lacking = [n for n in needed if not shutil.which(n, path=os.environ.get('PATH', '') + ':/usr/sbin')]
    if lacking or not os.path.exists('/usr/share/dokuwiki/doku.php'):
        print(f"skip - the demo: not installed: {' '.join(lacking) or 'dokuwiki'} (`make setup` installs it)")
        return 0
    with tempfile.TemporaryDirectory(prefix='strobe-test-') as directory:
        tree = os.path.join(directory, NAME)
        copy_tree(tree)
        before = temporary()
        if first_run(tree):
            second_run(tree)
            no_samples(tree)
            stopped_by(tree, signal.SIGINT, 0, 'Ctrl-C stops all processes and exits with 0')
            stopped_by(tree, signal.SIGTERM, 143, 'SIGTERM stops all processes')
            stopped_by(tree, signal.SIGHUP, 129, 'SIGHUP stops all processes')
            stopped_by(tree, signal.SIGKILL, -9, 'no process survives when the demo is killed')
            for left in temporary() - before:
                shutil.rmtree(left, ignore_errors=True)
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
