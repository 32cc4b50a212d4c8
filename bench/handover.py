#!/usr/bin/env python3
"""What it costs PHP to hand a message over: with the daemon up, absent, and stopped by SIGSTOP.

Uses the sender of the extension itself (handover.c) against a real `strobe serve`.
"""
import os
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
STROBE = os.environ.get('STROBE', os.path.join(os.path.dirname(HERE), 'build', 'strobe'))
HANDOVER = os.environ.get('HANDOVER', os.path.join(os.path.dirname(HERE), 'build', 'meson', 'bench', 'handover'))


def measure(name, path, count, pause):
    p50, p99, longest, lost = subprocess.run([HANDOVER, path, str(count), str(pause)], capture_output=True, text=True,
                                             check=True).stdout.split()
    print(f'handing over a message, {name}, p50\t{p50}\tµs')
    print(f'handing over a message, {name}, p99\t{p99}\tµs\t(longest {longest}, {lost} of {count} not taken)')


def main():
    with tempfile.TemporaryDirectory(prefix='strobe-') as directory:
        path = f'{directory}/s'
        measure('daemon absent', path, 20_000, 100)
        daemon = subprocess.Popen([STROBE, 'serve', '--from', f'unix:{path}', '--store', f'sqlite:{directory}/state',
                                   '--listen', '127.0.0.1:0'], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            for _ in range(200):
                if os.path.exists(path):
                    break
                time.sleep(0.05)
            else:
                sys.exit('strobe serve did not start')
            measure('daemon up', path, 20_000, 100)
            measure('daemon up, no pause', path, 100_000, 0)
            daemon.send_signal(signal.SIGSTOP)
            measure('daemon stopped', path, 20_000, 100)
            daemon.send_signal(signal.SIGCONT)
        finally:
            daemon.send_signal(signal.SIGCONT)
            daemon.terminate()
            daemon.wait(30)


main()
