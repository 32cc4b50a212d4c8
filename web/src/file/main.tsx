// The script of a page in a file: the page of strobe serve with the data beside it. The file has a still picture too, which is what is
// seen until this has run, or where no script may.

import { render } from 'preact';
import { App } from '../app';
import '../app.css';
import { listenForKeys } from '../keys';
import { startLoading } from '../load';
import { loadFile } from './answers';
import './file.css';

async function begin(): Promise<void> {
	await loadFile();
	const root = document.getElementById('app')!;
	startLoading();
	root.replaceChildren();
	listenForKeys();
	render(<App />, root);
}

begin().catch((why: Error) => {
	document.querySelector('header')?.append(`This browser cannot draw the interactive picture: ${why.message}`);
	dispatchEvent(new Event('error'));			// still.js shows its picture
});
