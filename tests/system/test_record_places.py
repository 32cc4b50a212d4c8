"""`strobe record` where PHP runs in other ways: in Apache, in containers and chroots, with code that opcache keeps, replaces or
preloads, in workers that restart; skips with the reason where one of them is not there."""
import glob
import http.client
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import threading
import time

from daemon import Daemon
from fpm import Fpm
from recording import Php, has_clocks, record as record_any, skip_without_bpf, stacks
from strobe_test import ROOT, STROBE, Directory, Skip, check, main, test, wait_for


def record(*args, env=None):
    """These tests are about what BPF programs see."""
    return record_any(*args, env=env, kernel=True)


BURN = 'for ($i = 0; $i < 200000; $i++);'
CHAIN = '''<?php
function low() { for ($i = 0; $i < 20000; $i++); } function middle() { low(); } function high() { middle(); }
echo "ready\\n";
while (true) high();
'''


class Requests:
    """Sends requests until the end of the block."""

    def __init__(self, ask):
        self.ask, self.over, self.asked = ask, False, 0

    def go(self):
        while not self.over:
            self.ask(self.asked)
            self.asked += 1

    def __enter__(self):
        self.thread = threading.Thread(target=self.go)
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.over = True
        self.thread.join()


def frames_of(path):
    return [frames for frames, _ in stacks(path)]


def names(path):
    return {frame for frames in frames_of(path) for frame in frames}


def check_chain(path, script):
    """The chain of CHAIN, complete, and nothing else."""
    found = frames_of(path)
    check(any(f[-3:] == ['high', 'middle', 'low'] for f in found), f'the whole chain: {found}')
    check(all(f[0] in (script, '[outside PHP functions]') for f in found), f'below the script: {found}')
    check(all(f[1:] == ['high', 'middle', 'low'][:len(f) - 1] for f in found), f'callers come first: {found}')


# --- opcache

@test
def function_names_stay_correct_across_opcache_resets():
    """Each generation's functions take the place of those before in opcache's memory."""
    with Directory() as d, Fpm(d, plain=True, children=1, settings={'zend_extension': 'opcache', 'opcache.enable': '1',
                                                                      'opcache.validate_timestamps': '0',
                                                                      'opcache.file_update_protection': '0'}) as fpm:
        fpm.write('reset.php', '<?php echo opcache_reset() ? "reset" : "refused";')
        generations, answers = set(), {}

        def ask(n):
            generation = n // 4
            name = f'g{generation}.php'
            if n % 4 == 0:
                fpm.write(name, f'<?php function inner_g{generation}() {{ {BURN} }} function outer_g{generation}() {{ inner_g{generation}(); }} '
                                f'outer_g{generation}(); echo opcache_is_script_cached(__FILE__) ? "kept" : "not kept";')
            answer = fpm.get('reset.php' if n % 4 == 3 else name)
            answers.setdefault(n % 4, set()).add(str(answer).rpartition('\n')[2].rstrip("'"))
            generations.add(generation)

        with Requests(ask):
            r = record('--fpm', '-F', 999, '-d', 4, '--lang', 'php', '-o', f'{d}/out.folded')
        check(r.returncode == 0, r.stderr)
        check(answers[2] == {'kept'} and answers[3] == {'reset'}, f'opcache cached and reset the scripts: {answers}')
        seen, mixed = set(), []
        for frames in frames_of(f'{d}/out.folded'):
            mine = {m.group(1) for f in frames for m in [re.search(r'g(\d+)(\.php)?$', f)] if m}
            mixed += [frames] if len(mine) > 1 else []
            seen |= mine
        check(not mixed, f'{len(mixed)} stacks have several generations: {mixed[:3]}')
        check(len(seen) > 4, f'several generations were seen: {len(seen)} of {len(generations)}')


@test
def preloaded_classes_are_named():
    with Directory() as d:
        with open(f'{d}/preload.php', 'w') as f:
            f.write(f'<?php class Early {{ static function hot() {{ {BURN} }} }}')
        with Fpm(d, plain=True, children=1, settings={'zend_extension': 'opcache', 'opcache.enable': '1',
                                                      'opcache.preload': f'{d}/preload.php', 'opcache.preload_user': 'root'}) as fpm:
            fpm.write('page.php', '<?php function page() { Early::hot(); } page();')
            with Requests(lambda n: fpm.get('page.php')):
                r = record('--fpm', '-F', 999, '-d', 2, '--lang', 'php', '-o', f'{d}/out.folded')
        check(r.returncode == 0, r.stderr)
        check([f'{d}/page.php', 'page', 'Early::hot'] in frames_of(f'{d}/out.folded'), f'{frames_of(f"{d}/out.folded")}')


# --- workers

@test
def short_lived_processes_that_match_a_pattern_are_found_as_they_start():
    if subprocess.run(['php', '-r', 'exit(extension_loaded("pcntl") ? 0 : 1);']).returncode:
        raise Skip('this php has no pcntl')
    burn = 'function %s_%d() { for ($u = getrusage()["ru_utime.tv_usec"]; abs(getrusage()["ru_utime.tv_usec"] - $u) < 60000;); } %s_%d();'
    with Directory() as d, subprocess.Popen([STROBE, 'record', '-P', 'wanted_[0-9]', '-F', '999', '--lang', 'php', '-o', f'{d}/out.folded'],
                                            stderr=subprocess.PIPE, text=True) as r:
        check(wait_for(lambda: r.poll() is not None or has_clocks(r.pid)), 'the recording has started')
        for i in range(10):
            for name in 'wanted', 'other':
                subprocess.run(['php', '-n', '-r', burn % (name, i, name, i)], check=True)
            # A child matches as long as it runs what its parent runs.
            subprocess.run(['php', '-r', 'pcntl_fork() ? pcntl_wait($s) : child(); function child() { ' + burn % ('wanted', 10 + i, 'wanted', 10 + i) +
                            ' }'], check=True)
        r.send_signal(signal.SIGINT)
        said = r.stderr.read()
        r.wait()
        skip_without_bpf(said)
        text = open(f'{d}/out.folded').read() if r.returncode == 0 else said
    found = set(re.findall(r'wanted_(\d+)', text))
    check(len(found) >= 16, f'10 programs and 10 children are found: {sorted(found)}')
    check('other' not in text, text)


@test
def restarted_workers_are_recorded():
    with Directory() as d, Daemon(d) as daemon, Directory() as f:
        with Fpm(f, pools={'www': ['pm.max_requests = 3']}, plain=True, children=1) as fpm:
            fpm.write('page.php', f'<?php function page() {{ {BURN} }} for ($k = 0; $k < 5; $k++) page();')
            with Requests(lambda n: fpm.get('page.php')) as requests:
                r = record('--fpm', '-F', 999, '-d', 3, '--to', daemon.socket, '--label', 'pid')
            check(r.returncode == 0, r.stderr)
        wait_for(lambda: daemon.status()['samples']['stored'] > 0)
        labels = {label['key']: {v['value'] for v in label['values']} for label in json.loads(daemon.get('/api/v1/labels?from=-1h'))['labels']}
        check(requests.asked > 12 and len(labels.get('pid', ())) > 2, f'{requests.asked} requests in processes {labels.get("pid")}')
        check('page' in daemon.get('/api/v1/profile?format=folded&from=-1h'), 'functions are recorded')


# --- much at once

@test
def excess_context_switches_are_sampled_and_scaled_to_the_total_wait_time():
    """Waits of half a millisecond: thousands of them, of which few are recorded, add up to the time all the same."""
    with Directory() as d, Php(d, '<?php function nap() { usleep(500); } echo "ready\\n"; while (true) nap();') as php:
        whole = record('-p', php.process.pid, '--off-cpu', '-d', 5, '--lang', 'php', '-o', f'{d}/whole.folded')
        check(whole.returncode == 0 and 'too many switches' not in whole.stderr, whole.stderr)
        r = record('-p', php.process.pid, '--off-cpu', '-d', 5, '--lang', 'php', '-o', f'{d}/out.folded',
                   env={**os.environ, 'STROBE_SWITCHES_PER_SECOND': '100'})
        check(r.returncode == 0, r.stderr)
        share = re.search(r'1 in (\d+) was recorded, weighted accordingly', r.stderr)
        check(share and int(share.group(1)) >= 4, f'the warning is present: {r.stderr}')
        waited = sum(n for frames, n in stacks(f'{d}/out.folded') if frames[-2:] == ['nap', 'usleep'])
        check(5e9 * 0.4 < waited < 5e9 * 1.6, f'{waited} ns of 5 s, {share.group(0)}: {r.stderr}')


@test
def repeated_stacks_do_not_increase_memory_use():
    """Samples of the same stacks take no more memory after ten seconds than after four."""
    def resident(pid):
        with open(f'/proc/{pid}/status') as f:
            return int(re.search(r'VmRSS:\s+(\d+)', f.read()).group(1))

    with Directory() as d, Php(d, CHAIN) as php:
        record('-p', php.process.pid, '-d', 1)                  # skips where it cannot run
        with subprocess.Popen([STROBE, 'record', '-p', str(php.process.pid), '-F', '5000', '-d', '10', '--lang', 'php', '-o',
                               f'{d}/out.folded'], stderr=subprocess.PIPE, text=True) as p:
            time.sleep(4)
            early = resident(p.pid)
            time.sleep(5)
            late = resident(p.pid)
            said = p.communicate(timeout=60)[1]
        check(p.returncode == 0, said)
        samples = sum(n for _, n in stacks(f'{d}/out.folded'))
        check(samples > 2000 and late - early < 256, f'{samples} samples, {early} to {late} kB')


# --- containers and chroots

def need_namespaces():
    if subprocess.run(['unshare', '--pid', '--mount', '--fork', '--mount-proc', 'true'], capture_output=True).returncode:
        raise Skip('namespaces cannot be made here (unshare)')


INSIDE = '''php -n "$1" > "$2/said" &
until grep -q ready "$2/said"; do sleep 0.1; done
echo "pid $!"
"$3" record -p $! -F 999 -d 2 --lang php -o "$2/out.folded"
code=$?
kill $!
exit $code
'''


@test
def pids_inside_a_container_are_those_of_its_namespace():
    need_namespaces()
    with Directory() as d:
        with open(f'{d}/script.php', 'w') as f:
            f.write(CHAIN)
        r = subprocess.run(['unshare', '--pid', '--mount', '--fork', '--mount-proc', 'sh', '-c', INSIDE, 'sh', f'{d}/script.php', d,
                            os.path.abspath(STROBE)], capture_output=True, text=True, timeout=120, cwd=d)
        skip_without_bpf(r.stderr)
        check(r.returncode == 0, r.stderr)
        check(int(re.search(r'pid (\d+)', r.stdout).group(1)) < 100, f'the pid of the container\'s namespace: {r.stdout}')
        check_chain(f'{d}/out.folded', f'{d}/script.php')


def descendants(pid):
    """The descendants of this process."""
    found = []
    for path in glob.glob('/proc/[0-9]*/stat'):
        try:
            with open(path) as f:
                parent = int(f.read().rpartition(')')[2].split()[1])
        except OSError:
            continue
        if parent == pid:
            child = int(path.split('/')[2])
            found += [child, *descendants(child)]
    return found


def named(pid, name):
    try:
        with open(f'/proc/{pid}/comm') as f:
            return f.read().startswith(name)
    except OSError:
        return False


@test
def php_in_a_container_is_recorded_from_the_host():
    need_namespaces()
    with Directory() as d, Php(d, CHAIN, 'unshare', '--pid', '--mount', '--fork', '--mount-proc', '--kill-child', 'php', '-n') as container:
        pid = next(p for p in descendants(container.process.pid) if named(p, 'php'))
        r = record('-p', pid, '-F', 999, '-d', 2, '--lang', 'php', '-o', f'{d}/out.folded')
        check(r.returncode == 0, r.stderr)
        check_chain(f'{d}/out.folded', container.path)


@test
def another_php_version_in_a_chroot_is_recorded():
    tree = f'{ROOT}/var/test/trixie'
    if not os.path.exists(f'{tree}/usr/bin/php8.4'):
        raise Skip('there is no PHP 8.4 in a chroot; scripts/php-chroot trixie 8.4 makes one')
    if os.geteuid() != 0:
        raise Skip('only root enters a chroot')
    with Directory() as d:
        with open(f'{d}/script.php', 'w') as f:
            f.write(CHAIN)
        with open(f'{d}/script.php') as source, subprocess.Popen(['chroot', tree, 'php8.4', '-n'], stdin=source, stdout=subprocess.PIPE) as php:
            php.stdout.readline()
            r = record('-p', php.pid, '-F', 999, '-d', 2, '--lang', 'php', '-o', f'{d}/out.folded')
            php.kill()
        check(r.returncode == 0, r.stderr)
        check_chain(f'{d}/out.folded', 'Standard input code')


# --- Apache

APACHE = '''ServerRoot "{d}"
PidFile "{d}/pid"
ErrorLog "{d}/error.log"
Listen 127.0.0.1:{port}
ServerName localhost
LoadModule mpm_prefork_module {modules}/mod_mpm_prefork.so
LoadModule authz_core_module {modules}/mod_authz_core.so
LoadModule php_module {php}
User {user}
Group {user}
StartServers 2
MinSpareServers 1
MaxSpareServers 2
DocumentRoot "{d}/www"
<FilesMatch "\\.php$">
	SetHandler application/x-httpd-php
</FilesMatch>
'''


class Apache:
    """An Apache with mod_php on a port of its own."""

    def __init__(self, directory):
        self.directory = directory
        modules = '/usr/lib/apache2/modules'
        libraries = sorted(glob.glob(f'{modules}/libphp*.so'))
        program = shutil.which('apache2', path='/usr/sbin:/usr/bin')
        if not program or not libraries:
            raise Skip('there is no Apache with mod_php (libapache2-mod-php)')
        if os.geteuid() != 0:
            raise Skip('Apache is started as root here')
        with socket.socket() as s:
            s.bind(('127.0.0.1', 0))
            self.port = s.getsockname()[1]
        os.mkdir(f'{directory}/www')
        with open(f'{directory}/apache.conf', 'w') as f:
            f.write(APACHE.format(d=directory, port=self.port, modules=modules, php=libraries[-1], user='www-data'))
        self.command = [program, '-D', 'FOREGROUND', '-f', f'{directory}/apache.conf']

    def get(self, path):
        connection = http.client.HTTPConnection('127.0.0.1', self.port, timeout=30)
        try:
            connection.request('GET', path)
            return connection.getresponse().read().decode()
        finally:
            connection.close()

    def answers(self):
        try:
            return 'there' in self.get('/there.php')
        except OSError:
            return False

    def __enter__(self):
        with open(f'{self.directory}/www/there.php', 'w') as f:
            f.write('<?php echo "there";')
        os.chmod(self.directory, 0o755)
        with open(f'{self.directory}/out', 'w') as out:
            # At its end it signals its whole process group.
            self.process = subprocess.Popen(self.command, stdout=out, stderr=out, start_new_session=True)
        if not wait_for(self.answers):
            self.__exit__()
            with open(f'{self.directory}/out') as f:
                raise RuntimeError(f'Apache did not start: {f.read()}')
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(60)


@test
def php_in_apache_is_recorded():
    with Directory() as d, Apache(d) as apache:
        with open(f'{d}/www/page.php', 'w') as f:
            f.write(f'<?php function inside() {{ {BURN} }} for ($k = 0; $k < 5; $k++) inside(); echo getmypid();')
        pid = apache.get('/page.php')
        with Requests(lambda n: apache.get('/page.php')):
            r = record('-F', 999, '-d', 3, '--lang', 'php', '-P', f'{d}/apache.conf', '-o', f'{d}/out.folded')
        check(r.returncode == 0, f'{pid}: {r.stderr}')
        check([f'{d}/www/page.php', 'inside'] in frames_of(f'{d}/out.folded'), f'{frames_of(f"{d}/out.folded")}')


if __name__ == '__main__':
    main()
