// Filters by mouse and by form: node test_page_filters.mjs TEST-SERVER

import { ready } from './browser.mjs';
import { check, raw, some, test } from './lib.mjs';
import { finish, openPage, site, text } from './live_pages.mjs';

const filters = async (open, label) => {
	await open.waitForFunction(() => document.querySelector('main').dataset.ready === 'true');
	return new URL(open.url()).searchParams.getAll(label);
};
const popupOf = (open, label) => open.evaluateHandle((l) => [...document.querySelectorAll('.picker')].find((p) => p.querySelector('.key').textContent === l), label);
const clickIn = async (open, label, selector, words) => {
	const picker = await popupOf(open, label);
	const found = await open.waitForFunction((p, s, w) => [...p.querySelectorAll(s)].find((e) => !w || (e.closest('li') || e).textContent.includes(w)), {}, picker, selector, words);
	await found.click();
};
const ticked = async (open, label) => open.evaluate((p) => [...p.querySelectorAll('[aria-selected="true"]')].map((e) => e.querySelector('.val').textContent), await popupOf(open, label));
const becomes = (open, label, wanted) => open.waitForFunction((l, w) => new URL(location).searchParams.getAll(l).join() === w, {}, label, wanted.join());

// The result of the address has as many samples as the values that were chosen had in the list of all.
async function samplesAre(open, label, wanted) {
	const { labels } = JSON.parse((await raw(site, '/api/v1/labels?from=-24h')).bytes), { values } = labels.find((l) => l.key === label);
	const sum = values.filter((v) => wanted(v.value)).reduce((n, v) => n + v.samples, 0);
	const { looked } = JSON.parse((await raw(site, `/api/v1/functions${new URL(open.url()).search}`)).bytes);
	check(sum > 0 && looked.samples === sum && sum < values.reduce((n, v) => n + v.samples, 0), label, sum, looked);
}

await test('several values of a label can be selected, negated and deselected with the mouse', async () => {
	const open = await openPage(`${site}/?from=-24h`);
	await clickIn(open, 'entry', '.pick');
	await clickIn(open, 'entry', 'li .tick', 'cron');
	await becomes(open, 'entry', ['cron']);
	await clickIn(open, 'entry', 'li .tick', 'index');
	await becomes(open, 'entry', ['cron', 'index']);
	check((await ticked(open, 'entry')).sort().join() === 'cron,index', await ticked(open, 'entry'));
	await samplesAre(open, 'entry', (v) => v === 'cron' || v === 'index');
	await clickIn(open, 'entry', '.segments button', 'is not');
	await becomes(open, 'entry', ['!cron', '!index']);
	await samplesAre(open, 'entry', (v) => v !== 'cron' && v !== 'index');
	check((await text(open, '.picker .pick .val')) === 'not cron, index', await text(open, '.picker .pick .val'));
	await open.reload();
	await ready(open);
	await clickIn(open, 'entry', '.pick');
	check((await ticked(open, 'entry')).sort().join() === 'cron,index', 'the selection is kept after a reload');
	await clickIn(open, 'entry', 'li .tick', 'cron');
	await becomes(open, 'entry', ['!index']);
	await clickIn(open, 'entry', 'li .val', 'all entry points');
	await becomes(open, 'entry', []);
	check(!await open.$('.picker .popup'), 'a click on a value closes the list');
	check(open.complaints.length === 0, open.complaints);
	await open.close();
});

await test('a prefix can be selected, alone or with values, and Back undoes each step', async () => {
	const open = await openPage(`${site}/?from=-24h`);
	await clickIn(open, 'entry', '.pick');
	await open.type('.picker input', 'in');
	await clickIn(open, 'entry', 'li .val', 'begins with');
	await becomes(open, 'entry', ['in*']);
	await samplesAre(open, 'entry', (v) => v.startsWith('in'));
	await clickIn(open, 'entry', '.pick');
	await clickIn(open, 'entry', 'li .tick', 'cron');
	await becomes(open, 'entry', ['in*', 'cron']);
	await samplesAre(open, 'entry', (v) => v.startsWith('in') || v === 'cron');
	check((await filters(open, 'entry')).length === 2);
	await open.goBack();
	await becomes(open, 'entry', ['in*']);
	await open.close();
});

await test('a prefix can be excluded like a value, and inclusions and exclusions can be combined', async () => {
	const open = await openPage(`${site}/?from=-24h&entry=in*&entry=cron`);
	await clickIn(open, 'entry', '.pick');
	await clickIn(open, 'entry', '.segments button', 'is not');
	await becomes(open, 'entry', ['!in*', '!cron']);
	await samplesAre(open, 'entry', (v) => !v.startsWith('in') && v !== 'cron');
	check((await text(open, '.picker .pick .val')) === 'not in*, cron', await text(open, '.picker .pick .val'));
	await clickIn(open, 'entry', 'li .tick', 'cron');
	await becomes(open, 'entry', ['!in*']);
	await open.type('.picker input', 'cr');
	await clickIn(open, 'entry', 'li .val', 'begins with');
	await becomes(open, 'entry', ['!cr*']);
	await samplesAre(open, 'entry', (v) => !v.startsWith('cr'));
	await open.goto(`${site}/?from=-24h&entry=in*&entry=!cron`);
	await ready(open);
	check((await text(open, '.picker .pick .val')) === 'in*, not cron', await text(open, '.picker .pick .val'));
	await open.close();
});

await test('popups close on Escape, wherever the focus is, and on a click outside', async () => {
	const open = await openPage(`${site}/?from=-24h`);
	for (const [button, popup] of [['.picker .pick', '.picker .popup'], ['button.custom', '.times'], ['.compare > button', '.compare .popup']]) {
		await open.click(button);
		await open.waitForSelector(popup);
		await open.evaluate(() => document.activeElement.blur());
		await open.keyboard.press('Escape');
		await open.waitForFunction((s) => !document.querySelector(s), {}, popup);
		check(await open.evaluate((s) => document.activeElement.matches(s), button), 'the focus returns to the button', button);
		await open.click(button);
		await open.waitForSelector(popup);
		const { x, y } = await open.$eval('.flame', (e) => ({ x: e.getBoundingClientRect().right - 40, y: e.getBoundingClientRect().top + 4 }));
		await open.mouse.click(x, y);
		await open.waitForFunction((s) => !document.querySelector(s), {}, popup);
	}
	await open.close();
});

await test('Escape before a list is painted returns the focus, too', async () => {
	const open = await openPage(`${site}/?from=-24h`);
	const focus = await open.evaluate(async () => {
		const button = document.querySelector('.picker .pick'), turn = async (done) => {
			for (let i = 0; i < 1000 && !done(); i++)
				await Promise.resolve();
		};
		button.click();
		await turn(() => document.querySelector('.picker .popup'));
		document.body.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape', bubbles: true }));
		await turn(() => !document.querySelector('.picker .popup'));
		return document.activeElement.className;
	});
	check(focus === 'pick', focus);
	await open.close();
});

await test('every label in the data can be used as a filter', async () => {
	const open = await openPage(`${site}/?from=-24h`);
	await open.waitForSelector('.more-labels');
	check(!(await open.$$eval('.picker .key', (all) => all.map((e) => e.textContent))).includes('clock'), 'a label with one value has no picker');
	await open.select('.more-labels', 'clock');
	await clickIn(open, 'clock', '.segments button', 'is not');
	await clickIn(open, 'clock', 'li .tick', 'wall');
	await becomes(open, 'clock', ['!wall']);
	await open.waitForSelector('.empty');
	await clickIn(open, 'clock', 'li .tick', 'wall');
	await becomes(open, 'clock', []);
	await open.close();
});

for (const [filter, words] of some([['!=in*', 'not "in*"'], ['=in*', '"in*"'], ['!in*', 'not in*']]))
	await test(`values that end in an asterisk are shown differently from prefixes: ${filter}`, async () => {
		const open = await openPage(`${site}/?from=-24h&entry=${filter}`);
		check((await text(open, '.picker .pick .val')) === words, await text(open, '.picker .pick .val'));
		await clickIn(open, 'entry', '.pick');
		await clickIn(open, 'entry', 'li .tick', 'cron');
		await becomes(open, 'entry', [filter, filter[0] === '!' ? '!cron' : 'cron']);
		await open.close();
	});

await test('without scripts every label can be filtered by value and by prefix, also negated', async () => {
	const other = await openPage(site, { scripts: false });
	const samples = async () => Number((await (await fetch(`${site}/api/v1/table${new URL(other.url()).search}`)).json()).looked.samples);
	for (const [label, is, value, words] of [['sapi', 'not', 'cli', 'sapi is not cli'], ['host', 'not-prefix', 'none', 'host does not begin with none'], ['entry', 'prefix', 'in', 'entry begins with in'], ['entry', '', 'cron', 'entry is cron']]) {
		await other.select('select[name="filter_label"]', label);
		await other.select('select[name="filter_is"]', is);
		await other.$eval('input[name="filter_value"]', (e, v) => e.value = v, value);
		await Promise.all([other.waitForNavigation(), other.click('form.controls button')]);
		check((await text(other, '.filters')).includes(`${words} ×`), await text(other, '.filters'), other.url());
	}
	const all = await samples();
	check(all > 0 && new URL(other.url()).search.split('entry=').length === 3, other.url());
	await Promise.all([other.waitForNavigation(), other.click('.filters a:last-child')]);
	check(!other.url().includes('cron') && other.url().includes('entry=in*'.replace('*', '%2A')), other.url());
	check(other.complaints.length === 0, other.complaints);
	await other.close();
});

await finish();
