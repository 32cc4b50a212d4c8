"""Inside PHP we are guests: servers that are reloaded, many requests, other profilers, the price after it is over.

STROBE_REQUESTS is how many requests the long test makes of each kind (100,000 unless it says otherwise).
"""
import json
import os
import re
import signal
import socket
import struct
import subprocess
import sys
import threading
import time

from fpm import BUSY, Fpm
from strobe_test import EXTENSION, ROOT, Directory, Skip, check, fastcgi, main, test, wait_for

sys.path.insert(0, os.path.join(ROOT, 'bench'))
from peers import peer                                      # noqa: E402

REQUESTS = int(os.environ.get('STROBE_REQUESTS', '100000'))
TRACERS = {'strobe.compat': 'tideways_xhprof,xhprof,excimer'}
# Traces a page; the result is thrown away when the request ends.
TRACED = '<?php tideways_xhprof_enable(7); register_shutdown_function(function () { tideways_xhprof_disable(); });\n'


class Connection:
    """One FastCGI connection that is kept for many requests."""

    def __init__(self, path, script):
        def pair(key, value):
            return bytes([len(key), len(value)]) + key.encode() + value.encode()

        params = b''.join(pair(k, v) for k, v in {
            'SCRIPT_FILENAME': script, 'SCRIPT_NAME': '/' + os.path.basename(script), 'REQUEST_METHOD': 'GET',
            'QUERY_STRING': '', 'REQUEST_URI': '/' + os.path.basename(script), 'SERVER_PROTOCOL': 'HTTP/1.1'}.items())
        self.request = (self.record(1, struct.pack('>HB5x', 1, 1)) + self.record(4, params) + self.record(4, b'')
                        + self.record(5, b''))
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(30)
        self.socket.connect(path)
        self.data = b''

    @staticmethod
    def record(kind, content):
        return struct.pack('>BBHHBx', 1, kind, 1, len(content), 0) + content

    def read(self, n):
        while len(self.data) < n:
            chunk = self.socket.recv(1 << 16)
            if not chunk:
                raise ConnectionError('php-fpm closed the connection')
            self.data += chunk
        taken, self.data = self.data[:n], self.data[n:]
        return taken

    def get(self):
        self.socket.sendall(self.request)
        body = b''
        while True:
            _, kind, _, n, padding = struct.unpack('>BBHHBx', self.read(8))
            content = self.read(n + padding)[:n]
            if kind == 6:
                body += content
            if kind == 3:
                return body.partition(b'\r\n\r\n')[2]

    def close(self):
        self.socket.close()


class Sink(threading.Thread):
    """Reads and drops the messages of a receiver's socket, so that no sender waits."""

    def __init__(self, receiver):
        super().__init__(daemon=True)
        self.receiver, self.ended, self.messages = receiver, False, 0

    def run(self):
        connections = []
        while not self.ended:
            try:
                while True:
                    connections.append(self.receiver.listener.accept()[0])
            except (BlockingIOError, OSError):
                pass
            for c in connections:
                try:
                    while c.recv(1 << 18, socket.MSG_DONTWAIT):
                        self.messages += 1
                except OSError:
                    pass
            time.sleep(0.01)
        for c in connections:
            c.close()


def state(pid):
    """A process's resources, as numbers that must not grow."""
    def count(what):
        return len(os.listdir(f'/proc/{pid}/{what}'))

    with open(f'/proc/{pid}/status') as f:
        rss = int(re.search(r'^VmRSS:\s+(\d+)', f.read(), re.M).group(1))
    with open(f'/proc/{pid}/maps') as f:
        mappings = len(f.readlines())
    timers = 0
    if os.path.exists(f'/proc/{pid}/timers'):
        with open(f'/proc/{pid}/timers') as f:
            timers = f.read().count('ID:')
    return {'threads': count('task'), 'descriptors': count('fd'), 'timers': timers, 'mappings': mappings, 'kB': rss}


PAGE = '''
function shop(int $n): int { return $n > 0 ? shop($n - 1) + strlen(str_repeat('x', $n)) : 0; }
class Cart { private array $lines = []; function add(string $s) { $this->lines[] = $s; return $this; }
    function each() { foreach ($this->lines as $l) yield strtoupper($l); } }
$cart = (new Cart)->add('a')->add('b');
$f = new Fiber(function () use ($cart) { foreach ($cart->each() as $l) Fiber::suspend($l); });
for ($text = $f->start(); !$f->isTerminated(); $text .= $f->resume());
$sum = array_sum(array_map(fn($i) => shop($i), range(1, 10)));
eval('function made_' . mt_rand() . '() { return 1; }');
include_once __DIR__ . '/part.inc';
echo $text, $sum, part();
'''


@test
def a_worker_leaks_no_resources_in_a_hundred_thousand_requests():
    kinds = {'plain PHP': (True, {}, '<?php'),
             'sampled': (False, {}, '<?php'),
             'traced and sampled': (False, TRACERS, TRACED)}
    for kind, (plain, settings, head) in kinds.items():
        with Directory() as d, Fpm(d, settings=settings, plain=plain, children=1) as fpm:
            sink = Sink(fpm.receiver)
            sink.start()
            fpm.write('part.inc', '<?php function part() { return "!"; }')
            c = Connection(f'{d}/www.sock', fpm.write('page.php', head + PAGE))
            wrong = 0
            for _ in range(min(3000, REQUESTS)):
                wrong += c.get() != b'AB220!'
            pid = fpm.workers()[0]
            before, start = state(pid), time.monotonic()
            # A leak grows in both halves; a cache that fills up grows in the first one.
            for half in range(2):
                for _ in range(REQUESTS // 2):
                    wrong += c.get() != b'AB220!'
                after = state(pid)
                if half == 0:
                    middle = after
            seconds = time.monotonic() - start
            grown = {k: after[k] - before[k] for k in before}
            print(f'# {kind}: {REQUESTS} requests in {seconds:.1f} s, grown by {grown}, {sink.messages} messages', flush=True)
            check(wrong == 0, f'{kind}: no answer is wrong, but {wrong} are')
            check(fpm.workers() == [pid], f'{kind}: the worker was not restarted')
            for what in ('threads', 'descriptors', 'timers'):
                check(grown[what] == 0, f'{kind}: the number of {what} is unchanged, but grew by {grown[what]}')
            check(after['mappings'] - middle['mappings'] <= 4, f'{kind}: the number of mappings is stable: {before} {middle} {after}')
            check(after['kB'] - middle['kB'] <= 512 and grown['kB'] <= 2048, f'{kind}: the memory is stable: {before} {middle} {after}')
            if not plain:
                check(sink.messages > 0, f'{kind}: messages were received')
            c.close()
            sink.ended = True
            sink.join()
            fpm.check_healthy()


def reload_under_load(plain, settings, head, reloads=4):
    """Returns how many of how many requests failed, and of how many workers were answers."""
    with Directory() as d, Fpm(d, settings=settings, plain=plain, before='process_control_timeout = 10\n') as fpm:
        sink = Sink(fpm.receiver)
        sink.start()
        fpm.write('page.php', head + BUSY[5:] + 'busy(0.01); echo "page";')
        wrong, answers, stop = [], [], threading.Event()

        def load():
            while not stop.is_set():
                try:
                    answer = fastcgi(f'{d}/www.sock', f'{d}/page.php')[1]
                except OSError as e:
                    answer = f'{type(e).__name__}: {e}'
                answers.append(answer)
                if answer != 'page':
                    wrong.append(answer)
                    time.sleep(0.005)

        threads = [threading.Thread(target=load) for _ in range(3)]
        for t in threads:
            t.start()
        for _ in range(reloads):
            time.sleep(0.7)
            before = set(fpm.workers())
            fpm.process.send_signal(signal.SIGUSR2)
            check(wait_for(lambda: len(fpm.workers()) == 2 and not before & set(fpm.workers())), 'all workers are replaced by a reload')
        time.sleep(0.5)
        messages = sink.messages
        if not plain:
            check(wait_for(lambda: sink.messages > messages), 'the new workers are sampled')
        time.sleep(0.5)
        stop.set()
        for t in threads:
            t.join()
        check(fpm.threads(fpm.process.pid) == 1, 'the master has one thread')
        sink.ended = True
        sink.join()
        fpm.check_healthy()
        return wrong, len(answers)


@test
def the_extension_causes_no_additional_failed_requests_during_reloads():
    plain, n = reload_under_load(True, {}, '<?php ')
    watched, m = reload_under_load(False, TRACERS, TRACED)
    print(f'# {len(plain)} of {n} requests failed without, {len(watched)} of {m} traced and sampled')
    check(n > 100 and m > 100, f'more than 100 requests were sent each time, not {n} and {m}')
    # A request that comes while the master starts again may find nobody; that is a matter of luck for both.
    check(len(watched) <= len(plain) + 2, f'no additional requests fail: {plain} without the extension, {watched} with it')


@test
def traces_are_correct_across_opcache_resets_and_script_changes():
    settings = {'zend_extension': 'opcache', 'opcache.enable': '1', 'opcache.jit_buffer_size': '16M',
                'opcache.jit': 'tracing', 'opcache.validate_timestamps': '1', 'opcache.revalidate_freq': '0',
                'opcache.file_update_protection': '0', 'opcache.max_wasted_percentage': '1', **TRACERS}
    with Directory() as d, Fpm(d, settings=settings, children=1) as fpm:
        sink = Sink(fpm.receiver)
        sink.start()
        fpm.write('reset.php', '<?php echo opcache_reset() ? "reset" : "not";')
        wrong = []
        for generation in range(120):
            # Other functions at the same addresses, and more of them each time.
            names = [f'g{generation}_{k}' for k in range(1 + generation % 7)]
            body = ''.join(f'function {n}(int $n) {{ return $n > 0 ? {n}($n - 1) + 1 : strlen("abc"); }}\n' for n in names)
            calls = ''.join(f'{n}({k});' for k, n in enumerate(names))
            fpm.write(f'page{generation % 3}.php',
                      '<?php\n' + body + 'tideways_xhprof_enable(1);\n' + calls + 'array_map(fn($x) => $x + 1, [1, 2]);\n'
                      'echo json_encode(array_map(fn($v) => $v["ct"], tideways_xhprof_disable()));')
            stamp = time.time() - 3600 + generation
            os.utime(f'{d}/page{generation % 3}.php', (stamp, stamp))
            for _ in range(3):
                answer = fpm_answer(d, f'page{generation % 3}.php')
                try:
                    seen = json.loads(answer)
                except ValueError:
                    wrong.append(answer[:200])
                    continue
                for k, n in enumerate(names):
                    if seen.get(f'main()==>{n}') != 1 or (k > 1 and seen.get(f'{n}@1==>{n}@2') != 1):
                        wrong.append(f'{n} in {answer[:300]}')
                if others := [e for e in seen if re.search(r'g\d+_', e) and f'g{generation}_' not in e]:
                    wrong.append(f'{others} in generation {generation}')
            if generation % 4 == 0 and fpm_answer(d, 'reset.php') != 'reset':
                wrong.append('opcache_reset')
        check(not wrong, f'no answer is wrong, but {len(wrong)} are: {wrong[:3]}')
        sink.ended = True
        sink.join()
        fpm.check_healthy()


def fpm_answer(directory, script):
    return fastcgi(f'{directory}/www.sock', f'{directory}/{script}')[1]


@test
def preloaded_code_is_traced():
    for jit in ('0', 'tracing'):
        with Directory() as d:
            with open(f'{d}/preload.php', 'w') as f:
                f.write('<?php class Preloaded { static function work(int $n) { return $n > 0 ? self::work($n - 1) : helped($n); } }\n'
                        'function helped($n) { return strrev("deliah$n"); } Preloaded::work(3);')
            settings = {'zend_extension': 'opcache', 'opcache.enable': '1', 'opcache.preload': f'{d}/preload.php',
                        'opcache.jit': jit, 'opcache.jit_buffer_size': '16M' if jit != '0' else '0',
                        'opcache.preload_user': 'root' if os.geteuid() == 0 else '', **TRACERS}
            with Fpm(d, settings=settings, children=1) as fpm:
                fpm.write('page.php', '<?php Preloaded::work(1); tideways_xhprof_enable(); Preloaded::work(2);'
                          'echo json_encode(array_map(fn($v) => $v["ct"], tideways_xhprof_disable()));')
                for _ in range(30):
                    seen = json.loads(fpm_answer(d, 'page.php'))
                    wanted = {'main()==>Preloaded::work': 1, 'Preloaded::work==>Preloaded::work@1': 1,
                              'Preloaded::work@1==>Preloaded::work@2': 1, 'Preloaded::work@2==>helped': 1, 'helped==>strrev': 1}
                    if not check(wanted.items() <= seen.items(), f'opcache.jit={jit}: {seen}'):
                        break
                check(fpm.threads(fpm.process.pid) == 1, 'the master has one thread')
                fpm.check_healthy()


@test
def the_built_in_server_survives_opcache_resets_while_tracing():
    with Directory() as d:
        probe = socket.create_server(('127.0.0.1', 0))
        port = probe.getsockname()[1]
        probe.close()
        with open(f'{d}/page.php', 'w') as f:
            f.write(TRACED + BUSY[5:] + 'busy(0.003); $e = new ExcimerProfiler; $e->setPeriod(0.001); $e->start();'
                    'for ($end = microtime(true) + 5; !count($e->getLog()) && microtime(true) < $end;) busy(0.002);'
                    'if (mt_rand(1, 5) == 1) opcache_reset(); $e->stop(); echo count($e->getLog()) > 0 ? "page" : "none";')
        command = ['php', '-n', '-d', 'zend_extension=opcache', '-d', f'extension={EXTENSION}', '-d', 'opcache.enable_cli=1',
                   '-d', 'strobe.mode=sample', '-d', 'strobe.period=0.001', '-d', f'strobe.socket={d}/none',
                   '-d', f'strobe.compat={TRACERS["strobe.compat"]}', '-S', f'127.0.0.1:{port}', '-t', d]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            def ask():
                try:
                    with socket.create_connection(('127.0.0.1', port), timeout=20) as s:
                        s.sendall(b'GET /page.php HTTP/1.0\r\n\r\n')
                        data = b''
                        while chunk := s.recv(1 << 16):
                            data += chunk
                        return data.partition(b'\r\n\r\n')[2]
                except OSError:
                    return None

            check(wait_for(ask), 'the server is reachable')
            answers = [ask() for _ in range(150)]
            check(answers == [b'page'] * 150, f'all answers are correct: {set(answers)}')
            check(process.poll() is None and len(os.listdir(f'/proc/{process.pid}/task')) == 2, 'the server is one process with two threads')
        finally:
            process.terminate()
            process.wait(60)


def php(*arguments, script):
    command = ['php', '-n']
    for a in arguments:
        command += ['-d', a]
    r = subprocess.run(command + ['-r', script], capture_output=True, text=True, timeout=120)
    return r.returncode, r.stdout, r.stderr


def last_object(text):
    try:
        return json.loads(text[text.rindex('{"'):])
    except ValueError:
        return {}


def needs(name):
    path = peer(name)
    if not path:
        raise Skip(f'{name} could not be fetched')
    return path


BESIDE = '''
function busy($s) { for ($n = 0, $t = microtime(true); microtime(true) - $t < $s; $n++) helper($n); return $n; }
function helper($n) { return abs($n); }
function sampled() { ob_start(); (new ReflectionExtension("strobe"))->info(); preg_match("/Samples taken => (\\d+)/", ob_get_clean(), $m); return (int)$m[1]; }
// Long enough for samples of both, also where the machine has much else to do.
function enough($log) { busy(0.2); for ($end = microtime(true) + 20; microtime(true) < $end && (sampled() < 100 || ($log && count($log->getLog()) < 50));) busy(0.05); }
'''


@test
def the_compatibility_layer_yields_to_excimer_and_both_sample():
    path = needs('excimer')
    for order in ([f'extension={path}', f'extension={EXTENSION}'], [f'extension={EXTENSION}', f'extension={path}']):
        code, out, err = php(*order, 'strobe.compat=excimer,xhprof', 'strobe.mode=sample', 'strobe.period=0.001',
                             'strobe.socket=/nonexistent', script=BESIDE + '''
            $e = new ExcimerProfiler; $e->setPeriod(0.001); $e->setEventType(EXCIMER_REAL); $e->start();
            xhprof_enable(2);
            enough($e);
            $edges = xhprof_disable();
            $e->stop();
            $n = 0; foreach ($e->getLog() as $entry) $n += $entry->getEventCount();
            echo json_encode(["version" => phpversion("excimer"), "events" => $n, "calls" => $edges["busy==>helper"]["ct"] ?? 0,
                "inner" => $edges["helper==>abs"]["ct"] ?? 0, "sampled" => sampled()]);''')
        check(code == 0 and err == '', f'PHP exits with 0 and no errors: {code} {out} {err}')
        seen = last_object(out)
        check(seen.get('version') == '1.0.4', f'the classes of the original extension are used: {out}')
        check(seen.get('events', 0) >= 50, f'the original extension takes samples: {out}')
        check(seen.get('sampled', 0) >= 100 and seen['calls'] > 1000 and seen['inner'] == seen['calls'], f'strobe takes samples and traces calls: {out}')


@test
def the_compatibility_layer_yields_to_tideways_and_both_trace():
    path = needs('tideways_xhprof')
    for order in ([f'extension={path}', f'extension={EXTENSION}'], [f'extension={EXTENSION}', f'extension={path}']):
        code, out, err = php(*order, 'strobe.compat=tideways_xhprof,xhprof', 'strobe.mode=sample', 'strobe.period=0.001',
                             'strobe.socket=/nonexistent', script=BESIDE + '''
            tideways_xhprof_enable();
            xhprof_enable(2);
            enough(null);
            $edges = xhprof_disable();
            $theirs = tideways_xhprof_disable();
            echo json_encode(["version" => phpversion("tideways_xhprof"), "theirs" => $theirs["busy==>helper"]["ct"] ?? 0,
                "calls" => $edges["busy==>helper"]["ct"] ?? 0, "sampled" => sampled()]);''')
        check(code == 0 and err == '', f'PHP exits with 0 and no errors: {code} {out} {err}')
        seen = last_object(out)
        check(seen.get('version', '').startswith('5.0.4'), f'the functions of the original extension are used: {out}')
        check(seen.get('theirs') == seen.get('calls') and seen.get('calls', 0) > 1000, f'both extensions count the same calls: {out}')
        check(seen.get('sampled', 0) >= 100, f'strobe takes samples: {out}')


@test
def strobe_and_xdebug_work_together_in_every_xdebug_mode():
    path = needs('xdebug')
    for mode in ('off', 'develop', 'coverage', 'trace', 'profile', 'debug'):
        for order in ([f'zend_extension={path}', f'extension={EXTENSION}'], [f'extension={EXTENSION}', f'zend_extension={path}']):
            with Directory() as d:
                code, out, err = php(*order, f'xdebug.mode={mode}', f'xdebug.output_dir={d}', 'xdebug.start_with_request=yes',
                                     'xdebug.use_compression=0', 'xdebug.client_port=1', 'xdebug.log_level=0',
                                     'strobe.compat=tideways_xhprof,excimer', 'strobe.mode=sample', 'strobe.period=0.001',
                                     'strobe.socket=/nonexistent', script=BESIDE + '''
                    $e = new ExcimerProfiler; $e->setPeriod(0.001); $e->setEventType(EXCIMER_REAL); $e->start();
                    if (extension_loaded("xdebug") && xdebug_info("mode") == ["coverage"]) xdebug_start_code_coverage();
                    tideways_xhprof_enable(7);
                    enough($e);
                    for ($i = 0; $i < 10; $i++) helper($i);
                    try { (function () { throw new Exception("x"); })(); } catch (Exception) {}
                    $edges = tideways_xhprof_disable();
                    $e->stop();
                    $coverage = xdebug_info("mode") == ["coverage"] ? count(xdebug_get_code_coverage()) : 0;
                    echo json_encode(["outer" => $edges["main()==>helper"]["ct"] ?? 0, "calls" => $edges["busy==>helper"]["ct"] ?? 0,
                        "inner" => $edges["helper==>abs"]["ct"] ?? 0, "events" => array_sum(array_map(fn($l) => $l->getEventCount(), iterator_to_array($e->getLog()))), "sampled" => sampled(),
                        "coverage" => $coverage]);''')
                files = os.listdir(d)
                which = f'xdebug.mode={mode}, {"ours" if EXTENSION in order[0] else "xdebug"} first'
                check(code == 0, f'{which}: PHP exits with 0: {code} {out[:300]} {err[:300]}')
                seen = last_object(out)
                check(seen.get('outer') == 10 and seen.get('calls', 0) > 10 and seen['inner'] == seen['calls'] + 10,
                      f'{which}: all calls are counted: {out[:300]}')
                check(seen.get('sampled', 0) >= 100 and seen.get('events', 0) >= 50, f'{which}: samples are taken: {out[:300]}')
                if mode in ('trace', 'profile'):
                    check(files and os.path.getsize(f'{d}/{files[0]}') > 1000, f'{which}: xdebug writes its file: {files}')
                if mode == 'coverage':
                    check(seen.get('coverage', 0) > 0, f'{which}: xdebug collects coverage: {out[:300]}')


# Instructions per call when something was on before, by callgrind.
CALLS = '''<?php
function f($x) { return $x + 1; }
class C { function m($x) { return $x + 1; } }
[, $what, $n] = $argv;
$c = new C;
$on = ['tideways' => fn() => tideways_xhprof_enable(1), 'xhprof' => fn() => xhprof_enable(4), 'sampled' => fn() => xhprof_sample_enable(),
    'excimer' => function () { $GLOBALS['e'] = new ExcimerProfiler; $GLOBALS['e']->setPeriod(100); $GLOBALS['e']->start(); }];
$off = ['tideways' => fn() => tideways_xhprof_disable(), 'xhprof' => fn() => xhprof_disable(), 'sampled' => fn() => xhprof_sample_disable(),
    'excimer' => fn() => $GLOBALS['e']->stop()];
if (isset($on[$what])) $on[$what]();
for ($i = 0; $i < 100; $i++) { f($i); $c->m($i); abs($i); }
if (isset($off[$what])) $off[$what]();
for ($i = 0; $i < $n; $i++) { f($i); $c->m($i); abs($i); }
'''


@test
def a_stopped_profiler_leaves_no_overhead_per_call():
    if subprocess.run(['which', 'valgrind'], capture_output=True).returncode != 0:
        raise Skip('valgrind is not installed')
    with Directory() as d:
        with open(f'{d}/calls.php', 'w') as f:
            f.write(CALLS)

        def instructions(settings, what, n):
            # Only of the thread that runs PHP: those that sample and send have done more or less by the time it ends.
            command = ['valgrind', '--tool=callgrind', '--separate-threads=yes', f'--callgrind-out-file={d}/counts', 'php', '-n']
            for s in settings:
                command += ['-d', s]
            r = subprocess.run(command + [f'{d}/calls.php', what, str(n)], capture_output=True, text=True, timeout=300)
            if r.returncode != 0 or r.stdout:
                raise RuntimeError(r.stdout + r.stderr[-500:])
            with open(f'{d}/counts-01') as f:
                return int(re.search(r'^(?:totals|summary): (\d+)', f.read(), re.M).group(1))

        def per_round(settings, what):
            return (instructions(settings, what, 30_000) - instructions(settings, what, 10_000)) / 20_000

        loaded = [f'extension={EXTENSION}']
        tracers = loaded + ['strobe.compat=tideways_xhprof,xhprof,excimer']
        plain = per_round([], 'nothing')
        check(abs(per_round(loaded, 'nothing') - plain) < 0.1, 'the extension without settings has no overhead')
        check(abs(per_round(loaded + ['strobe.compat=excimer'], 'excimer') - plain) < 0.1, 'Excimer has no overhead once it is stopped')
        idle = per_round(tracers, 'nothing')
        print(f'# three calls: {plain:.1f} instructions, with the observer idle {idle:.1f}')
        check(plain < idle < plain + 600, f'an idle observer has a small overhead: {plain:.1f} {idle:.1f}')
        for what in ('tideways', 'xhprof', 'sampled', 'excimer'):
            n = per_round(tracers, what)
            check(abs(n - idle) < 0.1, f'the overhead after {what} is that of an idle observer: {n:.2f} instructions, not {idle:.2f}')


main()
