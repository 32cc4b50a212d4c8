// The scripts that stand in pictures, each one file for itself: `vite build --mode svg`, `--mode svg-pairs` (the same for pictures
// whose boxes are an estimate, and comparisons), `--mode html` (the page in a file, with its style sheet) and `--mode unpack`. A picture
// may be of any encoding and stands in XML, so the script is ASCII and has no end of a CDATA section or of a script.
//
// In an SVG members of our own classes and interfaces get short names: the script is in each picture, and most pictures are
// small. What the browser, the language or the table of the picture (src/render/table.c, exact_table.c) calls by its name keeps it, and so
// does what stands as a string somewhere.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
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

// The page in a file is that of the server with some modules of its own: those of src/file that have the name of one in src.
const ofFile = {
	name: 'of-file',
	enforce: 'pre',
	resolveId(source, importer) {
		const own = ['api', 'api_views', 'bar', 'paint', 'worker'].find((name) => source === `./${name}` && /\/src\/\w+\.tsx?$/.test(importer));
		return own && ['ts', 'tsx'].map((end) => join(import.meta.dirname, `src/file/${own.startsWith('api') ? 'answers' : own}.${end}`)).find((path) => existsSync(path));
	},
};

const plain = {
	name: 'plain',
	enforce: 'post',
	generateBundle(_options, bundle) {
		for (const chunk of Object.values(bundle).filter((asset) => asset.type === 'asset'))
			chunk.source = String(chunk.source).replace(/[^\x00-\x7f]/g, (c) => `\\${c.charCodeAt(0).toString(16)} `);
		for (const chunk of Object.values(bundle).filter(({ type }) => type === 'chunk'))
			chunk.code = chunk.code
				.replace(/[^\x00-\x7f]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`)
				.replaceAll(']]>', ']] >').replaceAll('</', '<\\/');
	},
};

export default defineConfig(({ mode }) => ({
	publicDir: false,
	plugins: [...mode === 'html' ? [ofFile] : [], plain],
	define: { WITH_EXACT: JSON.stringify(mode !== 'svg'), WITH_CHANGES: JSON.stringify(mode !== 'svg'), IN_FILE: JSON.stringify(mode === 'html'), IN_PAGE: 'false' },
	oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
	worker: { format: 'iife' },
	build: {
		target: 'es2022',
		outDir: 'dist',
		emptyOutDir: false,
		cssCodeSplit: false,
		modulePreload: false,
		reportCompressedSize: false,
		rollupOptions: {
			input: mode === 'html' ? 'src/file/main.tsx' : `src/picture/${mode.replace(/-.*/, '')}.ts`,
			output: {
				format: 'iife', entryFileNames: `picture-${mode}.js`, assetFileNames: `picture-${mode}[extname]`,
				...(mode.startsWith('svg') && { minify: { mangleProps: { include: new RegExp(`^(?:${ownNames().join('|')})$`) } } }),
			},
		},
	},
}));
