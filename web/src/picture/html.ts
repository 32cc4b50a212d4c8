// The script in an HTML flame graph: the canvas of the web UI, and the data beside it in the file. The file has a still
// picture too, which is what is seen until this has run, or where no script may.

import { readFlame } from '../flame/data';
import { FlameView } from '../flame/view';
import { html, parse } from './dom';
import { Page, type About } from './page';
import { grouped } from './words';

const byId = (id: string) => document.getElementById(id)!;

// Base64 of a zlib stream. atob makes a string of it first, so it goes in pieces.
async function unpack(text: string): Promise<ArrayBuffer> {
	const PIECE = 1 << 20;
	let at = 0;
	const bytes = new ReadableStream<Uint8Array<ArrayBuffer>>({
		pull(out) {
			const piece = atob(text.slice(at, at += PIECE)), part = new Uint8Array(piece.length);
			for (let i = 0; i < piece.length; i++)
				part[i] = piece.charCodeAt(i);
			out.enqueue(part);
			if (at >= text.length)
				out.close();
		},
	});
	return new Response(bytes.pipeThrough(new DecompressionStream('deflate'))).arrayBuffer();
}

async function begin(): Promise<void> {
	const about: About = JSON.parse(byId('about').textContent!), packed = byId('profile');
	const data = readFlame(await unpack(packed.textContent!.trim()), about.exact);
	packed.remove();		// as text it is no longer needed
	data.about.reverse = about.reversed;
	// Suffixes only say how to colour a frame.
	data.names.forEach((name, i) => data.names[i] = name.replace(/_\[[kwij]\]$/, ''));

	const bar = html('div', { class: 'controls' }), said = byId('said'), share = byId('share');
	const flame = html('div', { class: 'flame', tabindex: 0, role: 'application', 'aria-roledescription': 'flame graph', 'aria-label':
		`Flame graph of ${grouped(data.count - 1)} frames. Arrow keys walk, Enter zooms, Escape resets; the button Table shows the same as a table.` });
	const side = html('div', { class: 'side' });
	const page = new Page(about, data, {
		bar, frame: flame,
		say: (text) => said.textContent = text,
		matched: (text, exact) => {
			share.textContent = text;
			share.dataset.share = exact;
		},
		table: (twin) => {
			side.replaceChildren(...twin ? [twin] : []);
			document.body.classList.toggle('with-table', !!twin);
		},
		resized: () => undefined,
	});
	byId('still').replaceWith(flame, side);
	byId('head').after(bar);
	document.body.classList.add('live');

	let pointed = -1;
	const events = page.events(), view = new FlameView(flame, {
		...events,
		hover: (box, x, y) => {
			pointed = box;
			flame.title = box >= 0 ? page.title(box) : '';
			events.hover(box, x, y);
		},
	}, false);
	// Links of --nameattr open with Ctrl, as in flamegraph.pl's pictures.
	flame.addEventListener('click', (e) => {
		const link = e.ctrlKey || e.metaKey ? page.attributes(pointed)?.[1] : '';
		if (!link)
			return;
		e.stopPropagation();
		parse(`<a${link}/>`).dispatchEvent(new MouseEvent('click'));
	}, true);
	page.view = view;
	page.begin();
	document.body.dataset.ready = 'true';
}

begin().catch((why: Error) => byId('said').textContent = `This browser cannot draw the interactive picture: ${why.message}`);
