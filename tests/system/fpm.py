"""A php-fpm of its own for a test."""
import os
import signal
import subprocess
import threading

from strobe_test import EXTENSION, Receiver, Skip, check, fastcgi, find_fpm, wait_for

BUSY = '<?php function busy($s) { $n = 0; for ($t = microtime(true); microtime(true) - $t < $s;) $n++; return $n; }\n'


class Fpm:
    """A private php-fpm in `directory` with one socket per pool, and a receiver.

    `plain` leaves the extension out, `before` are lines of the [global] section, `children` the workers of each pool,
    `prefix` a command that becomes it.
    """

    def __init__(self, directory, pools=None, settings=None, plain=False, before='', children=2, prefix=()):
        if not plain and not os.path.exists(EXTENSION):
            raise Skip(f'{EXTENSION} is not built')
        self.directory, self.begun = directory, []
        self.receiver = Receiver(f'{directory}/strobe.sock')
        conf = f'[global]\npid = {directory}/fpm.pid\nerror_log = {directory}/fpm.log\ndaemonize = no\n{before}'
        for name, lines in (pools or {'www': []}).items():
            conf += f'[{name}]\nlisten = {directory}/{name}.sock\npm = static\npm.max_children = {children}\n'
            if os.geteuid() == 0:
                conf += 'user = root\ngroup = root\n'
            conf += ''.join(line + '\n' for line in lines)
        self.write('fpm.conf', conf)
        arguments = {'extension': EXTENSION, 'strobe.mode': 'sample', 'strobe.period': '0.001',
                     'strobe.socket': f'{directory}/strobe.sock', **(settings or {})}
        if plain:
            arguments = {k: v for k, v in arguments.items() if k != 'extension' and not k.startswith('strobe.')}
        command = [*prefix, find_fpm(), '-n', '-R', '-y', f'{directory}/fpm.conf']
        for key, value in arguments.items():
            command += ['-d', f'{key}="{value}"']
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=open(f'{directory}/err', 'w'))
        if not wait_for(lambda: len(self.workers()) == children * len(pools or {'www': []})):
            raise RuntimeError('php-fpm did not start: ' + self.read('err') + self.log())

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGQUIT)
        try:
            self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        for thread in self.begun:
            thread.join(60)
        self.receiver.close()

    def write(self, name, text):
        with open(f'{self.directory}/{name}', 'w') as f:
            f.write(text)
        return f'{self.directory}/{name}'

    def read(self, name):
        try:
            with open(f'{self.directory}/{name}') as f:
                return f.read()
        except FileNotFoundError:
            return ''

    def log(self):
        return self.read('fpm.log')

    def get(self, script, pool='www', **arguments):
        answer = fastcgi(f'{self.directory}/{pool}.sock', f'{self.directory}/{script}', **arguments)
        self.receiver.poll()
        return answer[1]

    def begin(self, script, pool='www', **arguments):
        """Begins a request, and returns while it runs; php-fpm ends only after it."""
        self.begun.append(threading.Thread(target=fastcgi, args=(f'{self.directory}/{pool}.sock', f'{self.directory}/{script}'), kwargs=arguments))
        self.begun[-1].start()

    def threads(self, pid):
        return len(os.listdir(f'/proc/{pid}/task'))

    def workers(self, pool=''):
        """Returns the workers that have set their title, the last step of their start."""
        with open(f'/proc/{self.process.pid}/task/{self.process.pid}/children') as f:
            return [int(p) for p in f.read().split() if f'pool {pool}' in self.title(p)]

    def title(self, pid):
        try:
            with open(f'/proc/{pid}/cmdline') as f:
                return f.read()
        except OSError:             # it has ended meanwhile
            return ''

    def check_healthy(self):
        for word in ('exited on signal', 'SIGSEGV', 'core dumped', 'PHP Fatal', 'PHP Warning'):
            check(word not in self.log(), f'the log of php-fpm is free of "{word}": {self.log()[-600:]}')
