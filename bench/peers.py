"""The profilers that Strobe is compared with: Debian's packages, unpacked beside the tree and never installed.

`apt-get download` and `dpkg -x` need no root and change nothing on the machine: an installed profiler would be loaded
by every PHP on it. A profiler that cannot be fetched (no network, no such package for this PHP) is reported once, and
the measurement continues without it. """
import glob
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
DIRECTORY = os.environ.get('STROBE_PEERS', os.path.join(ROOT, 'var', 'bench', 'peers'))
PHP = os.environ.get('PHP', 'php')
# The packages that may contain it; %s is a PHP version such as 8.2.
PACKAGES = {'excimer': ['php-excimer', 'php%s-excimer'], 'tideways_xhprof': ['php%s-tideways', 'php-tideways'],
            'xdebug': ['php%s-xdebug', 'php-xdebug']}
_found = {}


def php_says(expression):
    return subprocess.run([PHP, '-n', '-r', f'echo {expression};'], capture_output=True, text=True).stdout


def say(text):
    print(f'# {text}', file=sys.stderr, flush=True)


def unpack(package, target):
    """Downloads the package from the machine's own Debian and unpacks it. Returns an error, or None."""
    with tempfile.TemporaryDirectory() as directory:
        try:
            # As root, apt would download as the user _apt, who must not write here.
            r = subprocess.run(['apt-get', '-q', '-o', 'DPkg::Lock::Timeout=300', '-o', 'APT::Sandbox::User=root',
                                'download', package], cwd=directory, capture_output=True, text=True, timeout=300)
            archives = glob.glob(f'{directory}/*.deb')
            if r.returncode != 0 or not archives:
                return (r.stderr.strip().splitlines() or ['apt-get download brought nothing'])[0]
            subprocess.run(['dpkg', '-x', archives[0], target], check=True, capture_output=True)
        except (OSError, subprocess.SubprocessError) as e:
            return str(e)
    return None


def candidates(name):
    api = os.path.basename(php_says('PHP_EXTENSION_DIR'))
    return [f'{php_says("PHP_EXTENSION_DIR")}/{name}.so', *glob.glob(f'{DIRECTORY}/usr/lib/php/{api}/{name}.so')]


def loads(path):
    """A file of that name may be for another PHP."""
    directive = 'zend_extension' if path.endswith('/xdebug.so') else 'extension'
    r = subprocess.run([PHP, '-n', '-d', f'{directive}={path}', '-r', 'echo "fine";'], capture_output=True, text=True)
    return r.stdout.strip() == 'fine'


def look(name):
    found = next((p for p in candidates(name) if os.path.exists(p) and loads(p)), None)
    if found:
        return found
    version = re.match(r'\d+\.\d+', php_says('PHP_VERSION')).group(0)
    why = ''
    for package in PACKAGES[name]:
        package = package.replace('%s', version)
        os.makedirs(DIRECTORY, exist_ok=True)
        why = unpack(package, DIRECTORY) or f'{package} has no {name}.so that PHP {version} loads'
        found = next((p for p in candidates(name) if os.path.exists(p) and loads(p)), None)
        if found:
            return found
    say(f'{name} is not compared: {why}')
    return None


def peer(name):
    """Returns the path of the peer's .so for PHP, or None."""
    if name not in _found:
        _found[name] = look(name)
    return _found[name]


if __name__ == '__main__':
    for wanted in sys.argv[1:] or PACKAGES:
        print(wanted, peer(wanted) or 'is not to be had', sep='\t')
