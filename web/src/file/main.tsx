// The script of a page in a file: the page of strobe serve with the data in the file. The file also has a still
// picture, which is visible until this has run, or if scripts are not allowed.

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
	dispatchEvent(new Event('error'));			// makes still.js show its picture
});
