// A picture of the page for the documentation: NODE_MODULES=… CHROMIUM=… node screenshot.mjs ADDRESS OUT.png [dark]

import { createRequire } from 'node:module';
import { join } from 'node:path';

const { default: puppeteer } = await import(createRequire(join(process.env.NODE_MODULES, 'x.js')).resolve('puppeteer-core'));
const [address, out, scheme] = process.argv.slice(2);
const browser = await puppeteer.launch({ executablePath: process.env.CHROMIUM, args: ['--no-sandbox', '--disable-gpu'] });
const page = await browser.newPage();

await page.setViewport({ width: 1440, height: 900 });
await page.emulateMediaFeatures([
	{ name: 'prefers-color-scheme', value: scheme === 'dark' ? 'dark' : 'light' }, { name: 'prefers-reduced-motion', value: 'reduce' },
]);
await page.goto(address);
await page.waitForSelector('main[data-ready="true"]');
await page.waitForSelector(address.includes('show=calls') ? '.call-graph .node' : '.plot canvas, .about ~ .work .flame canvas, .empty');
await page.evaluate(() => new Promise((r) => requestAnimationFrame(() => requestAnimationFrame(r))));
await page.screenshot({ path: out });
await browser.close();
