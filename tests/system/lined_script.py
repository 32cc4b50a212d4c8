"""A script whose lines take known parts of the time, and how it is sampled."""
import os
import subprocess

from strobe_test import EXTENSION, STROBE, Skip, check

SCRIPT = '''<?php
class Digest
{
	public $data;
	function both(int $rounds): string
	{
		for ($i = 0, $s = ''; $i < $rounds; $i++) {
			$s = md5($this->data);
			$s = md5($this->data . $this->data . $this->data);
		}
		return $s;
	}
}
$d = new Digest;
$d->data = str_repeat('x', 20000);
function cpu() { return getrusage()['ru_utime.tv_sec'] + getrusage()['ru_utime.tv_usec'] / 1e6; }
for ($end = cpu() + 1.2; cpu() < $end;) {
	$d->both(4);
	$d->both(16);
}
'''
# The lines of the method and of the script, each with its part of the work.
OWN, CALLS = {8: 1, 9: 3}, {18: 1, 19: 4}
MOVED = 0.12


def strobe(*args, directory=None):
    r = subprocess.run([os.path.abspath(STROBE), *map(str, args)], capture_output=True, text=True, timeout=60, cwd=directory)
    check(r.returncode == 0, f'{args}: {r.stderr}')
    return r.stdout


def need_extension():
    if not os.path.exists(EXTENSION):
        raise Skip(f'{EXTENSION} is not built')


def write_script(directory):
    path = f'{directory}/script.php'
    with open(path, 'w', encoding='utf-8') as f:
        f.write(SCRIPT)
    return path


def run(directory, script, *settings):
    subprocess.run([os.path.abspath(STROBE), 'run', '--extension', os.path.abspath(EXTENSION), '-q', '-F', '1000', '--clock', 'cpu', '--', 'php', *settings, script],
                   cwd=directory, check=True, timeout=120)
    return f'{directory}/profile.strobe'


def sample(socket, script):
    subprocess.run(['php', '-n', '-d', f'extension={os.path.abspath(EXTENSION)}', '-d', 'strobe.mode=sample', '-d', f'strobe.socket={socket}',
                    '-d', 'strobe.clock=cpu', '-d', 'strobe.period=0.001', script], check=True, timeout=120)
