#!/usr/bin/env python3
"""usage: test_script.py STROBE: the script in a flame graph, in a real browser.

Draws a small profile, puts what a person might do behind the picture's own script, opens it in headless Chromium and
reads what the page has become. Without Chromium every test is skipped.
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

FOLDED = """main;load;parse 30
main;load;parse;lex 10
main;load;read 20
main;render;Parse::tree 25
main;render;paint 14
main;idle 1
"""

# Each step returns what it saw; `see` is the title, x and width of every frame that is drawn.
STEPS = r"""
const see = () => [...document.querySelectorAll("#frames g")].map(g => [
	g.querySelector("title").textContent.split(" (")[0], +g.querySelector("rect").getAttribute("x"), +g.querySelector("rect").getAttribute("width"),
	g.getAttribute("class") || ""]);
const text = id => document.getElementById(id).textContent;
const frame = name => [...document.querySelectorAll("#frames g")].find(g =>
	g.querySelector("title").textContent.startsWith(name + " ("));
const at = name => {
	const r = frame(name).querySelector("rect").getBoundingClientRect();
	return { clientX: r.x + r.width / 2, clientY: r.y + r.height / 2, bubbles: true, button: 0 };
};
const click = name => frame(name).dispatchEvent(new MouseEvent("click", at(name)));
const hover = name => frame(name).dispatchEvent(new PointerEvent("pointermove", at(name)));
const key = (k, more) => document.documentElement.dispatchEvent(new KeyboardEvent("keydown",
	{ key: k, bubbles: true, cancelable: true, ...more }));
const input = () => document.querySelector("input");
const type = t => { input().value = t; input().dispatchEvent(new Event("input")); };
const goneBack = () => new Promise(done => addEventListener("popstate", () => setTimeout(done), { once: true }));

const finish = out => {
	const e = document.createElementNS("http://www.w3.org/2000/svg", "desc");
	e.id = "outcome";
	e.textContent = JSON.stringify(out);
	document.documentElement.append(e);
};

(async () => {
	const out = { start: see() };
	if (location.hash)
		return finish(out);
	hover("lex");
	out.hover = text("details");
	click("load");
	out.zoomed = see();
	out.zoomedAddress = location.hash;
	click("parse");
	out.deeper = see();
	const arrived = goneBack();
	history.back();
	await arrived;
	out.back = see();
	click("all");
	out.reset = see();
	type("^parse");
	out.matchedAnyCase = text("matched");
	key("i", { ctrlKey: true });
	out.matched = text("matched");
	out.searchAddress = location.hash;
	out.marked = see().filter(f => f[3] === "match").map(f => f[0]);
	key("i", { ctrlKey: true });
	type("parse|lex");
	out.matchedOnce = text("matched");
	key("F3");
	out.firstMatch = text("details");
	key("F3");
	out.secondMatch = text("details");
	key("F3", { shiftKey: true });
	out.backMatch = text("details");
	type("(");
	out.wrong = text("matched");
	key("Escape");
	out.escaped = [text("matched"), input().value];
	key("ArrowUp");
	key("ArrowUp");
	key("ArrowUp");
	out.walkUp = text("details");
	key("ArrowRight");
	out.walkRight = text("details");
	key("ArrowDown");
	out.walkDown = text("details");
	key("Enter");
	out.enter = location.hash;
	key("f", { ctrlKey: true });
	out.focus = document.activeElement === input();
	finish(out);
})();
"""

FLAGS = ['--headless', '--no-sandbox', '--window-size=1200,800', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-sync',
         '--disable-background-networking', '--disable-component-update', '--virtual-time-budget=5000', '--dump-dom']


def find_browser():
    return next(filter(None, map(shutil.which, ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome'])), None)


def dump(browser, path, directory, fragment=''):
    done = subprocess.run([browser, *FLAGS, f'--user-data-dir={directory}/profile', f'file://{path}{fragment}'],
                          capture_output=True, text=True, timeout=240)
    found = re.search(r'<desc[^>]*id="outcome"[^>]*>(.*?)</desc>', done.stdout, re.S)
    if not found:
        print('#', (done.stderr or done.stdout)[-1500:].replace('\n', '\n# '))
        return None
    text = found.group(1)
    for name, character in [('&lt;', '<'), ('&gt;', '>'), ('&quot;', '"'), ('&amp;', '&')]:
        text = text.replace(name, character)
    return json.loads(text)


def drawn(frames):
    return {name: (x, width, kind) for name, x, width, kind in frames}


def expectations(out):
    """Sentences and whether they hold."""
    zoomed, deeper = drawn(out['zoomed']), drawn(out['deeper'])
    yield 'hovering shows name, count and share', out['hover'] == 'Function: lex (10 samples, 10.00%)'
    yield 'a click makes a frame as wide as the picture', zoomed['load'] == (10, 1180, '')
    yield 'what called it stays, dimmed', zoomed['main'] == (10, 1180, 'dim') and zoomed['all'] == (10, 1180, 'dim')
    yield 'what does not belong to it is gone', 'render' not in zoomed and 'paint' not in zoomed
    yield 'its callees grow with it', zoomed['parse'][1] == 786.7 and zoomed['read'][1] == 393.3
    yield 'the address has the path by names', out['zoomedAddress'] == '#zoom=;main;load'
    yield 'zoom goes deeper', deeper['parse'] == (10, 1180, '') and 'read' not in deeper
    yield 'Back undoes one zoom', out['back'] == out['zoomed']
    yield 'a click on the root brings the whole picture back', out['reset'] == out['start']
    yield 'search is by regular expression and says the share', out['matched'] == 'Matched: 40.00%'
    yield 'what matches is marked', out['marked'] == ['parse']
    yield 'upper and lower case are equal until Ctrl-I', out['matchedAnyCase'] == 'Matched: 65.00%'
    yield 'the address has the search', out['searchAddress'] == '#search=%5Eparse&ic=0'
    yield 'a match inside of a match counts once', out['matchedOnce'] == 'Matched: 65.00%'
    yield 'F3 goes to the next match and back', (
        ['parse', 'lex', 'parse'] == [out[k].split(' ')[1] for k in ('firstMatch', 'secondMatch', 'backMatch')])
    yield 'a wrong expression is said to be one', out['wrong'] == 'Not a regular expression'
    yield 'Escape ends the search', out['escaped'] == ['', '']
    yield 'arrow keys walk to the widest callee, to neighbors and to callers', (
        ['load', 'render', 'main'] == [out[k].split(' ')[1] for k in ('walkUp', 'walkRight', 'walkDown')])
    yield 'Enter zooms to where the keys are', out['enter'].startswith('#zoom=;main')
    yield 'Ctrl-F leads to the search box', out['focus'] is True


def main():
    browser = find_browser()
    if not browser:
        print('skip - flame graph script in a browser: chromium is not installed')
        return
    with tempfile.TemporaryDirectory(prefix='strobe-svg-') as directory:
        svg = pathlib.Path(directory) / 'a.svg'
        subprocess.run([os.path.abspath(sys.argv[1]), 'flamegraph', '-', '-q', '-o', str(svg)], input=FOLDED, text=True,
                       check=True)
        svg.write_text(svg.read_text().replace('</svg>', f'<script><![CDATA[{STEPS}]]></script></svg>'))
        out = dump(browser, svg, directory)
        if out is None:
            print('not ok - the picture runs its script in a browser')
            sys.exit(1)
        shared = dump(browser, svg, directory, '#zoom=;main;render;no%20longer&search=paint')

    results = list(expectations(out))
    again = drawn(shared['start']) if shared else {}
    results.append(('a link opens at the deepest frame of its path that is still there',
                    again.get('render') == (10, 1180, '') and again.get('paint', ('', '', ''))[2] == 'match'))
    for sentence, holds in results:
        print(f'{"ok" if holds else "not ok"} - {sentence}')
    if not all(holds for _, holds in results):
        print('#', json.dumps(out))
        sys.exit(1)


main()
