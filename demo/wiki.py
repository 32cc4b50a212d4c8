"""The demo site: a private copy of Debian's DokuWiki with generated pages. Flat files, no database, no root.

Everything inside the copy is addressed relative to it, so that the checkout may be moved and its path may be odd.
"""
import hashlib
import os
import shutil
import subprocess

import content
from progress import Step

PACKAGE = os.environ.get('DOKUWIKI', '/usr/share/dokuwiki')
PACKAGE_CONF = os.environ.get('DOKUWIKI_CONF', '/etc/dokuwiki')
DATA = ['pages', 'meta', 'cache', 'index', 'locks', 'log', 'tmp', 'attic', 'media', 'media_meta', 'media_attic']

SETTINGS = '''<?php
$conf['title'] = 'Harbour works';
$conf['tagline'] = 'the demo site of Strobe';
$conf['savedir'] = './data';
$conf['useacl'] = 0;
$conf['updatecheck'] = 0;
$conf['userewrite'] = 0;
$conf['cachetime'] = 86400;
$conf['license'] = '';
'''


class WikiError(Exception):
    pass


class Wiki:
    def __init__(self, directory):
        self.root = os.path.join(directory, 'wiki')
        self.data = os.path.join(self.root, 'data')
        self.ids = content.page_ids()

    def stamp(self):
        """Changes when the wiki would come out differently."""
        h = hashlib.sha256()
        here = os.path.dirname(os.path.abspath(__file__))
        files = [os.path.join(here, 'content.py'), os.path.join(here, 'wiki.py'), os.path.join(PACKAGE, 'VERSION')]
        for name in files:
            with open(name, 'rb') as f:
                h.update(f.read())
        return h.hexdigest()

    def prepare(self, php):
        """Makes the wiki unless it is there already. `php` runs the indexer."""
        if not os.path.exists(os.path.join(PACKAGE, 'doku.php')):
            raise WikiError(f"no DokuWiki in {PACKAGE}: install the package 'dokuwiki' (`make setup` does it), "
                            'or set DOKUWIKI and DOKUWIKI_CONF to where it is')
        stamp_file = os.path.join(self.root, '.made-from')
        try:
            with open(stamp_file) as f:
                if f.read() == self.stamp():
                    print(f'Found the wiki with its {len(self.ids)} pages from an earlier run', flush=True)
                    return
        except FileNotFoundError:
            pass
        shutil.rmtree(self.root, ignore_errors=True)
        self.copy()
        self.write_pages()
        self.build_index(php)
        with open(stamp_file, 'w') as f:
            f.write(self.stamp())

    def copy(self):
        with Step('Copying DokuWiki'):
            copy_tree(PACKAGE, self.root)
            copy_tree(PACKAGE_CONF, os.path.join(self.root, 'conf'))
            for name in DATA:
                os.makedirs(os.path.join(self.data, name), exist_ok=True)
            for name in ('acl.auth.php', 'users.auth.php', 'local.protected.php'):
                write(os.path.join(self.root, 'conf', name), '')
            write(os.path.join(self.root, 'conf', 'local.php'), SETTINGS)
            # The key of security tokens. DokuWiki makes one when it finds none; of two first requests at the same time each makes its
            # own, and the form of one of them is refused.
            write(os.path.join(self.data, 'meta', '_htcookiesalt2'), os.urandom(64).hex())
            write(os.path.join(self.root, 'inc', 'preload.php'),
                  "<?php\ndefined('DOKU_CONF') || define('DOKU_CONF', dirname(__DIR__) . '/conf/');\n"
                  "defined('DOKU_MAIN_CONF') || define('DOKU_MAIN_CONF', DOKU_CONF);\n")

    def write_pages(self):
        with Step('Writing pages') as step:
            pages = os.path.join(self.data, 'pages')
            for n, page in enumerate(self.ids):
                path = os.path.join(pages, *page.split(':')) + '.txt'
                os.makedirs(os.path.dirname(path), exist_ok=True)
                write(path, content.page(n, self.ids))
                step.at(n / len(self.ids), page)
            write(os.path.join(pages, 'start.txt'), content.start(self.ids))
            step.note = f'{len(self.ids) + 1} pages'

    def build_index(self, php):
        """Runs DokuWiki's own indexer. It wants to know the address of the site even on the command line."""
        env = dict(os.environ, HTTP_HOST='127.0.0.1', SERVER_PORT='80')
        command = [php, '-d', 'display_errors=0', os.path.join(self.root, 'bin', 'indexer.php')]
        lines = []
        with Step('Building the search index') as step:
            with subprocess.Popen(command, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, text=True, errors='replace') as process:
                try:
                    for line in process.stdout:
                        lines.append(line)
                        step.at(len(lines) / (2 * len(self.ids)), line.strip()[:40])
                except BaseException:
                    process.kill()
                    raise
            step.note = ''
        if process.returncode != 0 or not os.listdir(os.path.join(self.data, 'index')):
            raise WikiError('DokuWiki could not build its search index; it said: ' + ''.join(lines[-5:]).strip())


def write(path, text):
    with open(path, 'w', encoding='utf-8') as f:
        f.write(text)


def copy_tree(source, target):
    """Copies what can be read, with links followed, English only: the package keeps some files for www-data."""
    def skip(directory, names):
        if os.path.basename(directory) == 'lang':
            return [n for n in names if n != 'en' and os.path.isdir(os.path.join(directory, n))]
        return [n for n in names if not os.access(os.path.join(directory, n), os.R_OK)]

    for directory, names, files in os.walk(source, followlinks=True):
        hidden = set(skip(directory, names + files))
        names[:] = [n for n in names if n not in hidden]
        to = os.path.join(target, os.path.relpath(directory, source))
        os.makedirs(to, exist_ok=True)
        for name in files:
            if name not in hidden:
                shutil.copyfile(os.path.join(directory, name), os.path.join(to, name))
