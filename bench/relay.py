#!/usr/bin/env python3
"""The cost of a relay on a host: `strobe collect` from the unix socket to a stream of a real Redis, while PHP-like senders
hand over 10,000 samples a second. CPU is that of the relay's process, user and system, per second of the clock."""
import os
import re
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, 'tests', 'system'))
from redis_server import RedisServer      # noqa: E402
from strobe_test import Skip, wait_for    # noqa: E402

STROBE = os.environ.get('STROBE', os.path.join(ROOT, 'build', 'strobe'))
SENDERS = os.path.join(os.environ.get('STROBE_BUILD', os.path.join(ROOT, 'build', 'meson')), 'bench', 'php_senders')
SECONDS = int(os.environ.get('STROBE_BENCH_SECONDS', '30'))
TICK = os.sysconf('SC_CLK_TCK')


def cpu_seconds(pid):
    with open(f'/proc/{pid}/stat', encoding='utf-8') as f:
        fields = f.read().rsplit(')', 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICK


def sink_seconds(pid):
    """Sums the CPU time of all threads except the first, which receives messages and makes batches of them."""
    total = 0
    for thread in os.listdir(f'/proc/{pid}/task'):
        if int(thread) != pid:
            with open(f'/proc/{pid}/task/{thread}/schedstat', encoding='utf-8') as f:
                total += int(f.read().split()[0])
    return total / 1e9


def memory_mb(pid):
    with open(f'/proc/{pid}/status', encoding='utf-8') as f:
        return int(re.search(r'VmHWM:\s+(\d+)', f.read()).group(1)) / 1024


def written_bytes(pid):
    with open(f'/proc/{pid}/io', encoding='utf-8') as f:
        return int(re.search(r'^write_bytes: (\d+)', f.read(), re.M).group(1))


def measure(redis, samples, messages):
    with tempfile.TemporaryDirectory(prefix='strobe-bench-') as d:
        redis.command('FLUSHALL')
        relay = subprocess.Popen([STROBE, 'collect', '--from', f'unix:{d}/s', '--to', redis.url('?stream=strobe'),
                                  '--state', f'{d}/state', '--listen', 'none'], stderr=subprocess.DEVNULL)
        try:
            wait_for(lambda: os.path.exists(f'{d}/s'))
            before, start = cpu_seconds(relay.pid), time.monotonic()
            out = subprocess.run([SENDERS, f'{d}/s', '100', str(samples), str(messages), str(SECONDS)],
                                 stdout=subprocess.PIPE, text=True, check=True).stdout.split()
            used, took = cpu_seconds(relay.pid) - before, time.monotonic() - start
            behind = sink_seconds(relay.pid)
            memory, written = memory_mb(relay.pid), written_bytes(relay.pid)
        finally:
            relay.terminate()
            relay.wait(30)
        entries = redis.command('XLEN', 'strobe')
        stream = redis.command('MEMORY', 'USAGE', 'strobe', 'SAMPLES', '0') or 0
        name = f'relay, {samples:,} samples/s in {messages:,} messages/s'
        print(f'{name}: CPU\t{100 * used / took:.2f}\t% of a core\tgoal 1 %; {out[2]} messages refused', flush=True)
        print(f'{name}: of which spool and forwarding\t{100 * behind / took:.2f}\t% of a core\tthe rest takes messages in')
        print(f'{name}: CPU per message\t{1e6 * used / int(out[0]):.1f}\tµs')
        print(f'{name}: memory\t{memory:.0f}\tMB')
        print(f'{name}: written to disk\t{written / took / 1e3:.0f}\tKB/s')
        print(f'{name}: to Redis\t{stream / took / 1e3:.1f}\tKB/s\t{entries} entries, {stream / max(1, int(out[1])):.2f} '
              'bytes per sample', flush=True)


def main():
    with RedisServer() as redis:
        measure(redis, 10000, 500)
        measure(redis, 10000, 100)


if __name__ == '__main__':
    try:
        main()
    except Skip as reason:
        print(f'relay: {reason}', file=sys.stderr)
