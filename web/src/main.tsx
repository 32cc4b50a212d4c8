// Takes over the page that the server rendered. A page without the place for it (login, errors) stays as it is.

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

// Browsers take the fragment of a form's address along to the page that the answer leads to.
if (login)
	login.action += location.hash;
