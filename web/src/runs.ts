// The list of runs, which works without this: times are in the zone of all pages, and files that are dropped anywhere on the
// list are sent with its form.

import { effect } from '@preact/signals';
import * as format from './format';
import './runs.css';

const heading = document.querySelector('.runs th a[href*="sort=start"]'), header = document.querySelector('header.bar');

// The server writes UTC, and says so.
if (heading && header) {
	const button = document.createElement('button'), times = document.querySelectorAll<HTMLTimeElement>('.runs time');
	button.type = 'button';
	button.className = 'zone';
	button.title = "The time zone here; switch between the browser's and UTC";
	button.addEventListener('click', format.switchZone);
	header.append(button);
	effect(() => {
		const zone = format.zone();
		button.textContent = zone;
		button.setAttribute('aria-label', `Times are in ${zone}; switch`);
		heading.textContent = `Started (${zone})`;
		times.forEach((e) => e.textContent = format.time(Date.parse(e.dateTime) / 1000, true));
	});
}

const form = document.querySelector<HTMLFormElement>('.upload form');
const input = form?.querySelector<HTMLInputElement>('input[type="file"]');

function brings(e: DragEvent): boolean {
	return !!e.dataTransfer?.types.includes('Files');
}

function show(isOver: boolean): void {
	document.body.classList.toggle('dropping', isOver);
}

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
