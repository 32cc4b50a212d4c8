// Takes over the page that the server rendered. A page without the place for it (login, errors) stays as it is.

import { render } from 'preact';
import { App } from './app';
import './app.css';
import { startLoading } from './load';

const root = document.getElementById('app');

if (root && !root.querySelector('.error')) {
	root.replaceChildren();
	startLoading();
	render(<App />, root);
}
