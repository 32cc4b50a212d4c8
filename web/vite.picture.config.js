// The scripts that stand in pictures, each one file for itself: `vite build --mode svg`, `--mode svg-pairs` (the same for pictures
// whose boxes are an estimate), `--mode html` and `--mode unpack`. A picture
// may be of any encoding and stands in XML, so the script is ASCII and has no end of a CDATA section or of a script.
//
// In an SVG members of our own classes and interfaces get short names: the script is in each picture, and most pictures are
// small. What the browser, the language or the table of the picture (src/render/table.c, exact_table.c) calls by its name keeps it, and so
// does what stands as a string somewhere.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createRequire } from 'node:module';
import { defineConfig } from 'vite';

const read = (path) => readFileSync(join(import.meta.dirname, path), 'utf8');
const files = (folder, suffix) => readdirSync(join(import.meta.dirname, folder)).filter((name) => name.endsWith(suffix)).map((name) => read(join(folder, name)));
const MEMBERS = /^\t(?:(?:private|readonly|static|get|set) )*(\w+)[?!]?\s*[:(=;<]/gm;
const words = (text, pattern) => [...text.matchAll(pattern)].map((match) => match[1]);

function ownNames() {
	const sources = [...files('src/picture', '.ts'), ...files('src/flame', '.ts')].join('\n');
	const libraries = dirname(createRequire(import.meta.url).resolve('typescript'));
	const platform = readdirSync(libraries).filter((name) => /^lib\.(dom|es).*\.d\.ts$/.test(name))
		.map((name) => readFileSync(join(libraries, name), 'utf8').replace(/\/\*[^]*?\*\/|\/\/.*/g, '')).join('\n');
	const table = words(sources, /^(?:export )?interface (?:Table|About|Unit|ExactTable)\b[^{]*\{([^]*?)^\}/gm).join('\n');
	const foreign = new Set([...words(platform, /(\w+)/g), ...words(sources, /['"`]([\w-]+)['"`]/g), ...words(table, MEMBERS)]);
	const members = [...words(sources, MEMBERS), ...words(sources, /(?:private|readonly) (\w+)[?!]?:/g)];
	return [...new Set(members)].filter((name) => !foreign.has(name)).sort();
}

const plain = {
	name: 'plain',
	generateBundle(_options, bundle) {
		for (const chunk of Object.values(bundle))
			chunk.code = chunk.code
				.replace(/[^\x00-\x7f]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`)
				.replaceAll(']]>', ']] >').replaceAll('</', '<\\/');
	},
};

export default defineConfig(({ mode }) => ({
	publicDir: false,
	plugins: [plain],
	define: { WITH_EXACT: JSON.stringify(mode !== 'svg') },
	build: {
		target: 'es2022',
		outDir: 'dist',
		emptyOutDir: false,
		modulePreload: false,
		reportCompressedSize: false,
		rollupOptions: {
			input: `src/picture/${mode.replace(/-.*/, '')}.ts`,
			output: {
				format: 'iife', entryFileNames: `picture-${mode}.js`,
				...(mode.startsWith('svg') && { minify: { mangleProps: { include: new RegExp(`^(?:${ownNames().join('|')})$`) } } }),
			},
		},
	},
}));
