// Takes over the page that the server rendered. Pages without an element for it (login, errors) stay as they are.

import { render } from 'preact';
import { App } from './app';
import './app.css';
import { listenForKeys } from './keys';
import { startLoading } from './load';
import './runs.css';
import { keepAccount } from './account';

const root = document.getElementById('app'), login = document.querySelector<HTMLFormElement>('[action="/login"]');

if (root && !root.querySelector('.error')) {
	keepAccount(root);
	root.replaceChildren();
	startLoading();
	listenForKeys();
	render(<App />, root);
} else if (!root) {
	void import('./views').then((views) => views.enhanceLists());
}

// Browsers keep the fragment of a form's URL when the answer redirects to a page.
if (login)
	login.action += location.hash;
