"""Folded lines through a real rsyslogd, with the two configurations that docs/pipeline.md prints."""
import glob
import os
import re
import shutil
import signal
import socket
import subprocess
import time

from collector import total_so_far
from daemon import Daemon
from strobe_test import ROOT, STROBE, Directory, Skip, check, main, test, wait_for


def printed(word):
    """The configuration in the docs that has this word, as it is printed."""
    blocks = re.findall(r'^```[a-z]*\n(.*?)^```$', read(f'{ROOT}/docs/pipeline.md'), re.M | re.S)
    return next(b for b in blocks if word in b)


class Rsyslog:
    """Runs in the foreground with what is printed, on a socket of its own; `places` are words of the text and what they are here."""

    def __init__(self, directory, text, places):
        if not shutil.which('rsyslogd'):
            raise Skip('rsyslog is not installed')
        for word, here in places.items():
            check(word in text, f'the docs contain {word}')
            text = text.replace(word, here)
        self.directory, self.config = directory, f'{directory}/rsyslog.conf'
        with open(self.config, 'w') as f:
            f.write(f'module(load="imuxsock" SysSock.Use="off")\ninput(type="imuxsock" Socket="{directory}/log")\n'
                    f'global(workDirectory="{directory}")\n{text}*.* action(type="omfile" file="{directory}/others")\n')
        checked = subprocess.run(['rsyslogd', '-N1', '-f', self.config], capture_output=True, text=True)
        check(checked.returncode == 0 and 'error' not in checked.stderr, f'rsyslog accepts the configuration: {checked.stderr}')

    def __enter__(self):
        self.process = subprocess.Popen(['rsyslogd', '-n', '-f', self.config, '-i', f'{self.directory}/pid'],
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        wait_for(lambda: os.path.exists(f'{self.directory}/log'))
        self.socket.connect(f'{self.directory}/log')
        return self

    def write(self, lines, program='php-profile'):
        for line in lines:
            self.socket.send(f'<14>Nov 21 18:00:00 {program}[7]: {line}'.encode())

    def children(self):
        with open(f'/proc/{self.process.pid}/task/{self.process.pid}/children') as f:
            first = f.read().split()
        for path in glob.glob(f'/proc/{self.process.pid}/task/*/children'):
            with open(path) as f:
                first += f.read().split()
        return sorted(set(map(int, first)))

    def end(self):
        if self.process.poll() is None:
            self.process.terminate()
            self.process.wait(60)

    def __exit__(self, *_):
        self.end()
        self.socket.close()


def deep(i):
    """Longer than rsyslog's usual 8 KB, some far above."""
    return '/srv/index.php;main;' + ';'.join(f'Shop\\Catalogue::level{d}' for d in range(400 + i % 7 * 400)) + f';leaf{i % 50} 2'


def read(path):
    if not os.path.exists(path):
        return ''
    with open(path) as f:
        return f.read()


def samples(directory, store):
    with Daemon(directory, '--store', f'sqlite:{store}') as d:
        lines = d.get('/api/v1/profile?format=folded&from=-2d').splitlines()
    check(all(line.startswith('/srv/index.php;') for line in lines), 'names are unchanged')
    return sum(int(line.rsplit(' ', 1)[1]) for line in lines)


@test
def syslog_lines_arrive_through_a_rotated_file():
    with Directory() as directory:
        log, store = f'{directory}/strobe.folded', f'{directory}/store'
        places = {'/var/log/strobe.folded': log, 'fileGroup="strobe"': 'fileGroup="adm"'}
        d = Daemon(directory)
        d.command = [STROBE, 'collect', '--listen', '127.0.0.1:0', '--state', f'{directory}/cs', '--from',
                     f'file:{log}?channel=syslog', '--to', f'sqlite:{store}']
        with Rsyslog(directory, printed('omfile'), places) as syslog, d:
            syslog.write(deep(i) for i in range(300))
            syslog.write(['not;ours 1'], program='cron')
            wait_for(lambda: d.status()['samples']['stored'] == 600)
            os.rename(log, log + '.1')
            syslog.write(deep(i) for i in range(300))       # into the file that was rotated away
            syslog.process.send_signal(signal.SIGHUP)
            written = []        # some may still be in rsyslog's queue, in no file
            wait_for(lambda: os.path.exists(log) or written.append(syslog.write(['/srv/index.php;again 1'])) or time.sleep(0.1))
            again = len(written)
            syslog.write(deep(i) for i in range(300))
            check(wait_for(lambda: d.status()['samples']['stored'] >= 1800 + again), f'all arrive: {d.status()["samples"]}')
            n = d.status()['sources'][0]
            check(not any(n['rejected_lines'].values()), f'no line is rejected: {n["rejected_lines"]}')
            check(d.stop() == 0, 'exits with 0')
        check(samples(directory, store) == 1800 + again, 'all are stored once')


@test
def syslog_lines_arrive_through_a_pipe_across_restarts_of_the_collector():
    with Directory() as directory:
        store = f'{directory}/store'
        places = {'/usr/bin/strobe': STROBE, '/var/lib/strobe-syslog': store, '/var/log/strobe-syslog.log': f'{directory}/words'}
        with Rsyslog(directory, printed('omprog'), places) as syslog:
            syslog.write(deep(i) for i in range(300))
            # Files that a collector has not opened yet end with it, as with any program that is killed before it handles signals.
            wait_for(lambda: 'collecting from' in read(f'{directory}/words'))
            before = syslog.children()
            for pid in before:
                os.kill(pid, signal.SIGTERM)
            syslog.write(deep(i) for i in range(300))
            check(wait_for(lambda: syslog.children() not in ([], before)), 'rsyslog restarts the collector')
            syslog.write(deep(i) for i in range(300))
            check(wait_for(lambda: total_so_far(store) >= 1800), f'all arrive: {total_so_far(store)} of 1800')
            syslog.end()
        check(wait_for(lambda: '0 other lines skipped' in read(f'{directory}/words')), 'the last collector exits with rsyslog')
        check(samples(directory, store) == 1800, 'all are stored once')


main()
