// One script, one stylesheet, and the charts and the worker of searches as files of their own. Names are fixed: the server puts a hash of all of
// them into the path they are served under.
import { defineConfig } from 'vite';

const UNUSED = ['linear', 'stepped', 'monotoneCubic', 'points', 'join', 'rangeLog', 'rangeAsinh', 'logAxisSplits', 'asinhAxisSplits', 'log10AxisValsFilt',
	'log2AxisValsFilt', 'fmtDate', 'timeAxisStamps', 'timeAxisVals', 'timeSeriesVal', 'numAxisVals', 'numSeriesVal'];

function withoutUnused(code) {
	const functions = new RegExp(`^function (${UNUSED.join('|')})\\([^]*?^\\}`, 'gm'), missing = UNUSED.filter((name) => !code.includes(`\nfunction ${name}(`));
	if (missing.length)
		throw new Error(`uPlot has no function ${missing.join(', ')}`);
	return code.replace(functions, 'function $1() {}').replace(/^\t?uPlot\.(?!tzDate|paths)\w+ += .*$|^\t\(paths\.(?!bars).*$/gm, '');
}

export default defineConfig({
	base: './',
	plugins: [
		// Chunks have no styles of their own, so that nothing has to be loaded before them.
		{ name: 'plain-imports', enforce: 'pre', load: (id) => id.includes('vite/preload-helper') ? 'export const __vitePreload = (load) => load();' : null },
		// Helpers of uFuzzy that the page does not call go with the assignments that keep them: 1 KB. The timeline has bars and linear
		// scales and writes its times itself, so that the rest of uPlot goes as well: 3 KB.
		{
			name: 'unused-helpers', transform(code, id) {
				if (id.endsWith('/uFuzzy.mjs'))
					return code.replace(/^uFuzzy\.(latinize|highlight) = .*$/gm, '').replace('const latinize = (', 'const latinize = /* @__PURE__ */ (');
				return id.endsWith('/uPlot.esm.js') ? withoutUnused(code) : null;
			},
		},
	],
	publicDir: false,
	define: { WITH_EXACT: 'false', WITH_CHANGES: 'true', IN_FILE: 'false', IN_PAGE: 'true' },
	oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
	worker: { format: 'es', rollupOptions: { output: { entryFileNames: '[name].js' } } },
	build: {
		target: 'es2022',
		outDir: 'dist',
		emptyOutDir: true,
		cssCodeSplit: false,
		modulePreload: false,
		reportCompressedSize: false,
		rollupOptions: {
			input: 'src/main.tsx',
			output: {
				entryFileNames: 'app.js',
				chunkFileNames: '[name].js',
				assetFileNames: (asset) => asset.names.some((n) => n.endsWith('.css')) ? 'app.css' : '[name][extname]',
			},
		},
	},
});
