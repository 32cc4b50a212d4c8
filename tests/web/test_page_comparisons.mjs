// Comparisons of ranges and labels: node test_page_comparisons.mjs TEST-SERVER

import { newPage, ready } from './browser.mjs';
import { check, test } from './lib.mjs';
import { at, browser, finish, openPage, pressed, site, text } from './live_pages.mjs';

await test('a comparison with an empty range opens the page and says what the store holds', async () => {
	const open = await newPage(browser);
	await open.goto(`${site}/?base_from=-72h&base_to=-71h`);
	await open.waitForSelector('.bar button.live');
	await open.waitForSelector('main .why');
	const said = await text(open, 'main .why');
	check(/^Nothing to compare: no samples in \S+ \S+ to \S+ \S+; the store holds samples from \S+ \S+ to \S+ \S+, entries: \w+(, \w+)*$/.test(said) && !/\dZ/.test(said), said);
	await open.evaluate(() => [...document.querySelectorAll('main button')].find((b) => b.textContent === 'end comparison').click());
	await open.waitForSelector('.rows tbody button');
	check(!open.url().includes('base'), open.url());
	await open.close();
});

// With dates where a range includes a midnight.
const bothRanges = /^(\d{4}-\d\d-\d\d )?\d\d:\d\d:\d\d – .* compared with .*\d\d:\d\d:\d\d – /;

await test('a range can be compared with the range before it, a week ago, and other labels', async () => {
	const other = await openPage(`${site}/?from=-15m&entry=search`), heading = () => text(other, '.about h2');
	await pressed(other, 'compare');
	await pressed(other, 'the same range before');
	await at(other, 'base_from=-1800s&base_to=-900s');
	await other.waitForSelector('.about h2');
	check(bothRanges.test(await heading()), await heading());
	check((await text(other, '.rows thead')).includes('change'));
	await pressed(other, 'end comparison');
	await other.waitForFunction(() => !location.search.includes('base') && !document.querySelector('.about'));
	await pressed(other, 'compare');
	await other.waitForSelector('.compare select[name=before] option[value=api]');
	await other.select('.compare select[name=before]', 'api');
	await pressed(other, 'Compare');
	await at(other, 'base.entry=%3Dapi');
	await other.waitForSelector('.about h2');
	check(await heading() === 'entry=search compared with entry=api', await heading());
	const { compared, columns } = await (await fetch(`${site}/api/v1/table?from=-15m&entry=search&base.entry=api`)).json();
	const alone = async (entry) => (await (await fetch(`${site}/api/v1/table?from=-15m&entry=${entry}`)).json()).columns[0].whole;
	check(compared.before_labels === 'entry=api' && compared.after_labels === 'entry=search', compared);
	check(Math.abs(columns[0].whole - await alone('search')) <= 20 && Math.abs(columns[0].before - await alone('api')) <= 20, columns);
	await pressed(other, 'end comparison');
	await other.waitForFunction(() => !location.search.includes('base'));
	await pressed(other, 'compare');
	await other.waitForSelector('.compare select[name=after]');
	const side = () => other.$eval('.compare select[name=after]', (e) => e.value);
	check(other.url().includes('entry=%3Dsearch') && await side() === 'search', 'the filtered side is preselected', other.url(), await side());
	await pressed(other, 'a week ago at this time');
	await at(other, 'base_from=-605700s');
	await other.waitForFunction(() => document.querySelector('.empty .why')?.textContent.includes('Nothing to compare'));
	await pressed(other, 'end comparison');
	await other.waitForFunction(() => !location.search.includes('base') && document.querySelector('.flame canvas'));
	await other.close();
});

await test('a failed comparison clears the previous one, and another can be selected', async () => {
	const other = await openPage(`${site}/?from=-15m&base_from=-1800s&base_to=-900s`);
	await other.waitForSelector('.about h2');
	await pressed(other, 'compare');
	await pressed(other, 'a week ago at this time');
	await other.waitForSelector('.empty .why');
	check(await other.$('.about') === null && !(await other.title()).includes(' and '), await other.title());
	await pressed(other, 'compare');
	await pressed(other, 'the same range before');
	await at(other, 'base_from=-1800s&base_to=-900s');
	await other.waitForSelector('.about h2');
	await other.goto(`${site}/?from=2020-01-01T10:00&to=2020-01-01T11:00&base_from=-2h`);
	await other.waitForSelector('.empty .why');
	await pressed(other, 'compare');
	await pressed(other, 'the same range before');
	await at(other, 'base_from=2020-01-01T09%3A00%3A00.000Z&base_to=2020-01-01T10%3A00%3A00.000Z');
	await other.close();
});

await test('yesterday at this time is the same local time, also after a change of daylight saving time', async () => {
	const other = await newPage(browser);
	await other.evaluateOnNewDocument((changed) => {		// which were an hour ahead until then
		for (const name of ['toLocaleDateString', 'toLocaleTimeString']) {
			const was = Date.prototype[name];
			Date.prototype[name] = function (...how) { return was.apply(new Date(+this + (+this < changed ? 3_600_000 : 0)), how); };
		}
	}, Date.now() - 12 * 3_600_000);
	await other.goto(`${site}/?from=-15m`);
	await ready(other);
	await pressed(other, 'compare');
	await pressed(other, 'yesterday at this time');
	await at(other, 'base_from=-90900s&base_to=-90000s');
	await other.close();
});

await test('the heading of a comparison has both ranges in the time zone of the page', async () => {
	const other = await openPage(`${site}/?from=-20m&base_from=-40m&base_to=-20m`);
	check(bothRanges.test(await text(other, '.about h2')), await text(other, '.about h2'));
	await other.waitForFunction(() => /^[+-]/.test(document.querySelector('.rows tbody tr:not(.gap)')?.cells[0].textContent));
	check(other.complaints.length === 0, other.complaints);
	await other.close();
});

await finish();
