// Lists of runs and of named filters, which also work without this: adds the bar with time zone and sheet of keys
// that all pages have; files dropped anywhere on the list of runs are sent with its form.

import { effect } from '@preact/signals';
import { render } from 'preact';
import * as format from './format';
import { Keys, KeysButton, listenForKeys } from './keys';
import { Zone } from './zone';

function brings(e: DragEvent): boolean {
	return !!e.dataTransfer?.types.includes('Files');
}

function show(isOver: boolean): void {
	document.body.classList.toggle('dropping', isOver);
}

export function enhanceLists(): void {
	const header = document.querySelector('header.bar'), heading = document.querySelector('.runs th a[href*="sort=start"]');

	if (header) {
		const field = document.querySelector('form input[name="search"]'), ends = document.createElement('div');
		if (field)
			field.id = 'search';
		ends.className = 'ends';
		header.append(ends);
		render(<><Zone /><KeysButton /><Keys keys={[['?', 'this sheet'], ...field ? [['/', 'search the list'] as [string, string]] : []]} /></>, ends);
		listenForKeys();
	}

	// On a phone the fields would fill the screen. Only those in use stay visible.
	const controls = header?.querySelector('form[action="/runs"]');
	if (controls) {
		const fold = document.createElement('details'), narrow = matchMedia('(max-width: 600px)');
		const follow = () => fold.open = !narrow.matches || [...controls.querySelectorAll('input')].some((e) => e.type !== 'hidden' && e.value);
		fold.className = 'fold';
		fold.innerHTML = '<summary>Filter the list</summary>';
		controls.before(fold);
		fold.append(controls);
		narrow.onchange = follow;
		follow();
	}

	// The server writes UTC, and labels it so.
	if (heading) {
		const times = document.querySelectorAll<HTMLTimeElement>('.runs time');
		effect(() => {
			heading.textContent = `Started (${format.zone()})`;
			times.forEach((e) => e.textContent = format.time(Date.parse(e.dateTime) / 1000, true));
		});
	}

	// Times are typed in the displayed zone; the server gets UTC.
	for (const name of ['since', 'until']) {
		const field = document.querySelector<HTMLInputElement>(`form.controls input[name="${name}"]`), caption = field?.labels?.[0]?.firstChild;
		if (!field || !caption)
			continue;
		const words = caption.textContent!.replace(/ \(.*/s, '');
		const utc = field.value;
		let written = utc;
		effect(() => {
			caption.textContent = `${words} (${format.zone()}) `;
			if (field.value === written)		// unchanged by the user
				field.value = written = format.fromServer(utc);
		});
		field.form!.addEventListener('formdata', (e) => e.formData.set(name, format.toServer(field.value)));
	}

	const form = document.querySelector<HTMLFormElement>('.upload form');
	const input = form?.querySelector<HTMLInputElement>('input[type="file"]');

	if (form && input) {
		addEventListener('dragover', (e) => {
			if (!brings(e))
				return;
			e.preventDefault();
			show(true);
		});
		addEventListener('dragleave', (e) => {
			if (!e.relatedTarget)		// out of the window, not to another element
				show(false);
		});
		addEventListener('drop', (e) => {
			show(false);
			if (!e.dataTransfer?.files.length)
				return;
			e.preventDefault();
			input.files = e.dataTransfer.files;
			form.requestSubmit();
		});
	}
}
