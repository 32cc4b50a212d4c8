"""Units of work on their way from a worker of PHP's to the pictures of a daemon."""
import json
import shutil
import subprocess

from daemon import Daemon
from strobe_test import EXTENSION, Directory, Skip, check, main, test, wait_for

WORKER = '''<?php
function even() { for ($s = 0, $i = 0; $i < 6000; $i++) $s += $i & 3; return $s; }
function odd() { for ($s = 0, $i = 0; $i < 6000; $i++) $s += $i & 7; return $s; }
function mail(int $n) { for ($end = microtime(true) + 0.6; microtime(true) < $end;) even(); if ($n === 2) throw new Exception("refused"); }
for ($changes = 0, $end = microtime(true) + 2; microtime(true) < $end; $changes += 2) {
	Strobe\\with_labels(["parity" => "even"], "even");
	Strobe\\with_labels(["parity" => "odd"], "odd");
}
for ($n = 1; $n <= 3; $n++)
	try {
		Strobe\\Unit::run("mail", function () use ($n) { Strobe\\set_attribute("job_id", "job-$n"); mail($n); }, ["queue" => "slow"]);
	} catch (Exception) {
	}
echo $changes;
'''.replace('function mail', 'function send_mail').replace('; mail($n)', '; send_mail($n)')


def folded(d, query):
    """Samples by stack."""
    rows = (line.rsplit(' ', 1) for line in d.get(f'/api/v1/profile?format=folded&from=-1h&{query}').splitlines())
    return {stack: int(n) for stack, n in rows}


def share(stacks, name):
    return sum(n for stack, n in stacks.items() if name in stack.split(';')) / max(1, sum(stacks.values()))


@test
def samples_and_runs_of_units_of_work_are_found_by_their_labels():
    if not shutil.which('php'):
        raise Skip('there is no php')
    with Directory() as directory, Daemon(directory) as d:
        script = f'{directory}/worker.php'
        with open(script, 'w') as f:
            f.write(WORKER)
        settings = {'extension': EXTENSION, 'strobe.mode': 'sample', 'strobe.period': '0.001', 'strobe.socket': d.socket, 'strobe.instrument': '1',
                    'strobe.trace_rate': '1', 'strobe.trace_keep': 'failed', 'log_errors': '0'}
        r = subprocess.run(['php', '-n', *(x for k, v in settings.items() for x in ('-d', f'{k}="{v}"')), script], capture_output=True,
                           text=True, timeout=120)
        check(r.returncode == 0 and int(r.stdout or 0) > 4000, f'the worker ran: {r.stdout} {r.stderr}')
        wait_for(lambda: d.status()['samples']['stored'] > 3600)      # 2 s of changes, 3 units of 0.6 s
        messages = sum(source['messages'] for source in d.status()['sources'])
        check(messages < 30, f'{messages} messages for {r.stdout} changes of a label')
        # A tick that comes late on a busy machine finds the function returned, and mostly still knows it; its label it always has.
        for parity, other in ('even', 'odd'), ('odd', 'even'):
            stacks = folded(d, f'parity={parity}')
            check(sum(stacks.values()) > 300 and share(stacks, parity) > 0.6 and share(stacks, other) < 0.02, f'{parity}: {stacks}')
        stacks = folded(d, 'entry=mail&queue=slow')
        # If the ticking thread gets no processor for long, the time that it missed goes to the end of the unit.
        check(1700 < sum(stacks.values()) < 6000 and share(stacks, 'send_mail') > 0.6, f'mail: {stacks}')
        check(share(folded(d, 'entry=worker'), 'send_mail') == 0, 'the loop has no time of the mail unit')
        keys = [label['key'] for label in json.loads(d.get('/api/v1/labels?from=-1h'))['labels']]
        check('queue' in keys and 'job_id' not in keys, f'attributes create no series: {keys}')
        runs = json.loads(d.get('/api/v1/runs'))['runs']
        check([(x['labels']['entry'], x['labels']['job_id'], x['labels']['failed'], x['source']) for x in runs] == [('mail', 'job-2', '1', 'sampled')],
              f'the failed run is kept: {runs}')


if __name__ == '__main__':
    main()
