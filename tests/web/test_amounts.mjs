// Amounts as the page writes them are those of a table that src/profile/test_amount.c reads too: node test_amounts.mjs

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { check, end, test } from './lib.mjs';

const here = dirname(fileURLToPath(import.meta.url)), { transpileModule } = createRequire(join(process.env.NODE_MODULES, 'x.js'))('typescript');
const script = transpileModule(readFileSync(join(here, '../../web/src/amount.ts'), 'utf8'), { compilerOptions: { module: 'esnext', target: 'es2022' } }).outputText;
const { amount, share } = await import(`data:text/javascript,${encodeURIComponent(script)}`);

await test('amounts and shares are formatted as in the table that the server is tested with', () => {
	const lines = readFileSync(join(here, '../data/amounts.tsv'), 'utf8').trim().split('\n').map((line) => line.split('\t'));
	const wrong = lines.map(([unit, value, words]) => [unit, value, words, unit === 'share' ? share(...value.split('/').map(Number)) : amount(Number(value), unit)])
		.filter(([, , words, got]) => words !== got);
	check(lines.length > 40 && wrong.length === 0, wrong);
});

await end();
