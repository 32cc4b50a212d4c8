"""Visitors of the demo site: a fixed, seeded mix of real requests, whose answers are checked.

Each visitor is a thread with one keep-alive connection, a cookie as a browser keeps it, and a random generator of its
own, so that two runs ask for the same things in the same order.
"""
import collections
import html
import http.client
import random
import re
import threading
import time
import urllib.parse

import content

# Kind and how often it comes, in percent.
MIX = [('view', 46), ('purge', 12), ('edit', 8), ('search', 9), ('index', 6), ('feed', 5), ('export', 6),
       ('suggest', 4), ('indexer', 4)]
FIELD = re.compile(r'<input[^>]*\btype="hidden"[^>]*>')
ATTRIBUTE = re.compile(r'\b(name|value)="([^"]*)"')
TEXT = re.compile(r'<textarea[^>]*\bname="wikitext"[^>]*>(.*?)</textarea>', re.S)
# DokuWiki's template says in a class which page an answer is: "mode_show", "mode_preview", "mode_conflict".
MODE = re.compile(r'\bclass="[^"]*\bmode_(\w+)')
# DokuWiki truncates the file of a cached feed before it writes it, and reads it without its lock, so that of two visitors
# at a time one may get nothing.
FEEDS = threading.Lock()


class WrongAnswer(Exception):
    pass


class Visitor:
    def __init__(self, port, number, visitors):
        self.port = port
        self.rnd = random.Random(f'visitor {number}')
        self.ids = content.page_ids()
        # DokuWiki locks a page for the session that edits it, so nobody edits the pages of another.
        self.own = self.ids[number::visitors]
        # The first requests are one of each kind, so that a short run shows all of them.
        self.first = [kind for kind, _ in MIX][number:] + [kind for kind, _ in MIX][:number]
        self.client = None
        self.cookies = {}
        self.headers = {}                       # sent with each request

    def close(self):
        if self.client:
            self.client.close()

    def ask(self, method, path, form=None):
        """Returns status and text. A connection that was idle for too long is opened again."""
        headers = dict(self.headers)
        if self.cookies:
            headers['Cookie'] = '; '.join(f'{k}={v}' for k, v in self.cookies.items())
        body = None
        if form is not None:
            body = urllib.parse.urlencode(form)
            headers['Content-Type'] = 'application/x-www-form-urlencoded'
        if not self.client:
            self.client = http.client.HTTPConnection('127.0.0.1', self.port, timeout=60)
        try:
            self.client.request(method, path, body, headers)
            response = self.client.getresponse()
        except (http.client.RemoteDisconnected, BrokenPipeError, ConnectionResetError):
            self.client.close()
            self.client.request(method, path, body, headers)
            response = self.client.getresponse()
        for header, value in response.getheaders():
            if header.lower() == 'set-cookie':
                name, _, rest = value.partition('=')
                self.cookies[name] = rest.partition(';')[0]
        return response.status, response.read().decode('utf-8', 'replace')

    def expect(self, answer, text='', size=0, status=200):
        if answer[0] != status:
            raise WrongAnswer(f'status {answer[0]} instead of {status}, {mode(answer[1])}: {plain(answer[1])}')
        if len(answer[1]) < size:
            raise WrongAnswer(f'only {len(answer[1])} bytes: {plain(answer[1])}')
        if text not in answer[1]:
            raise WrongAnswer(f"without '{text}': {plain(answer[1])}")

    def next(self):
        """Makes one request, or the few of an edit. Returns kind and seconds."""
        if self.first:
            kind = self.first.pop(0)
        else:
            kind = self.rnd.choices([k for k, _ in MIX], [w for _, w in MIX])[0]
        start = time.monotonic()
        try:
            getattr(self, kind)()
        except (OSError, http.client.HTTPException) as e:
            if self.client:
                self.client.close()
                self.client = None
            raise WrongAnswer(f'{kind}: {type(e).__name__} {e}') from e
        except WrongAnswer as e:
            raise WrongAnswer(f'{kind}: {e}') from e
        return kind, time.monotonic() - start

    def view(self):
        self.view_of(self.rnd.choice(self.ids))

    def view_of(self, page, more=None):
        self.expect(self.ask('GET', f'/doku.php?id={page}' + (f'&{more}' if more else '')), content.title(page), 8000)

    def purge(self):
        """A page whose rendered form is not taken from the cache."""
        page = self.rnd.choice(self.ids)
        self.expect(self.ask('GET', f'/doku.php?id={page}&purge=true'), content.title(page), 8000)

    def edit(self):
        """The form, then saving it with its security token, then the page as it is now."""
        page = self.rnd.choice(self.own)
        form = self.ask('GET', f'/doku.php?id={page}&do=edit')
        self.expect(form, 'name="wikitext"', 4000)
        fields = {}
        for field in FIELD.findall(form[1]):
            a = {k: html.unescape(v) for k, v in ATTRIBUTE.findall(field)}
            if 'name' in a:
                fields[a['name']] = a.get('value', '')
        if not fields.get('sectok'):
            raise WrongAnswer('the form has no security token')
        text = content.edited(html.unescape(TEXT.search(form[1]).group(1)).lstrip('\n'), self.rnd)
        fields.update({'wikitext': text, 'summary': 'noted', 'do[save]': '1'})
        self.expect(self.ask('POST', f'/doku.php?id={page}', fields), status=302)
        # Two edits within one second leave a cached page that DokuWiki takes for new, and so does a visitor who looks meanwhile.
        noted = html.escape(text.rstrip().rpartition('Note ')[2][:20], quote=False)
        for _ in range(3):
            saved = self.ask('GET', f'/doku.php?id={page}&purge=true')
            if noted in saved[1]:
                break
            time.sleep(1.1)
        self.expect(saved, noted, 8000)

    def search(self):
        word = self.rnd.choice(content.NOUNS)
        self.expect(self.ask('GET', f'/doku.php?id=start&do=search&q={word}'), 'search_', 4000)

    def index(self):
        space = self.rnd.choice(content.SPACES)
        self.expect(self.ask('GET', f'/doku.php?id=start&do=index&idx={space}'), space, 4000)

    def feed(self):
        mode = self.rnd.choice(['recent', 'list&ns=' + self.rnd.choice(content.SPACES)])
        with FEEDS:
            answer = self.ask('GET', f'/feed.php?mode={mode}')
        self.expect(answer, '<rdf:RDF', 500)

    def export(self):
        page = self.rnd.choice(self.ids)
        self.expect(self.ask('GET', f'/doku.php?id={page}&do=export_xhtml'), content.title(page), 2000)

    def suggest(self):
        """The requests of the search box while somebody types."""
        word = self.rnd.choice(content.NOUNS)[:4]
        self.expect(self.ask('POST', '/lib/exe/ajax.php', {'call': 'qsearch', 'q': word}))

    def indexer(self):
        """The small image in each page that makes DokuWiki index what has changed."""
        self.expect(self.ask('GET', '/lib/exe/taskrunner.php?id=' + self.rnd.choice(self.ids)))


def mode(text):
    found = MODE.search(text)
    return found.group(1) if found else 'no page of the wiki'


def plain(text):
    """The beginning of an answer, for a message."""
    text = re.sub(r'<(script|style).*?</\1>|<[^>]*>', ' ', text, flags=re.S)
    return ' '.join(text.split())[:160]


class Load:
    """Several visitors at once, until stopped, or until each has made `requests` requests."""

    def __init__(self, port, visitors=3, pause=0.0, requests=None):
        self.port, self.visitors, self.pause, self.requests = port, visitors, pause, requests
        self.counts = collections.Counter()
        self.seconds = collections.Counter()
        self.latencies = []
        self.wrong = []
        self.lock = threading.Lock()
        self.ended = threading.Event()
        self.threads = []
        self.started = self.elapsed = 0.0

    def start(self):
        self.started = time.monotonic()
        for n in range(self.visitors):
            thread = threading.Thread(target=self.visit, args=(n,), daemon=True)
            self.threads.append(thread)
            thread.start()

    def visit(self, number):
        visitor = Visitor(self.port, number, self.visitors)
        made = 0
        while not self.ended.is_set() and made != self.requests:
            made += 1
            try:
                kind, seconds = visitor.next()
                with self.lock:
                    self.counts[kind] += 1
                    self.seconds[kind] += seconds
                    self.latencies.append(seconds)
            except WrongAnswer as e:
                # The site going away at the end is not its fault.
                if not self.ended.is_set():
                    with self.lock:
                        self.wrong.append(str(e))
                    self.ended.wait(0.2)
            if self.pause:
                self.ended.wait(self.pause)
        visitor.close()

    def stop(self):
        self.ended.set()
        self.wait()

    def wait(self):
        for thread in self.threads:
            thread.join()
        self.elapsed = time.monotonic() - self.started

    def total(self):
        return sum(self.counts.values())

    def summary(self):
        rate = self.total() / self.elapsed if self.elapsed else 0
        kinds = ', '.join(f'{n} {kind}' for kind, n in self.counts.most_common())
        return f'{self.total()} requests, {rate:.0f} per second: {kinds}'
