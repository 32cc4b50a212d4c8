// A picture of the page for the documentation: NODE_MODULES=… CHROMIUM=… node screenshot.mjs ADDRESS OUT.png [dark]

import { drawn, launch, newPage, ready } from './browser.mjs';

const [address, out, scheme] = process.argv.slice(2);
const browser = await launch();
const page = await newPage(browser, { dark: scheme === 'dark' });

await page.goto(address);
await ready(page);
await page.waitForSelector(address.includes('show=calls') ? '.call-graph .node' : '.plot canvas, .about ~ .work .flame canvas, .empty');
await drawn(page);
await page.screenshot({ path: out });
await browser.close();
