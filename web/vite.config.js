// One script, one stylesheet, and the charts and the worker of searches as files of their own. Names are fixed: the server puts a hash of all of
// them into the path they are served under.
import { defineConfig } from 'vite';

export default defineConfig({
	base: './',
	plugins: [
		// Chunks have no styles of their own, so that nothing has to be loaded before them.
		{ name: 'plain-imports', enforce: 'pre', load: (id) => id.includes('vite/preload-helper') ? 'export const __vitePreload = (load) => load();' : null },
		// Helpers of uFuzzy and uPlot that the page does not call go with the assignments that keep them: 2 KB.
		{
			name: 'unused-helpers', transform: (code, id) => id.endsWith('/uFuzzy.mjs') ?
				code.replace(/^uFuzzy\.(latinize|highlight) = .*$/gm, '').replace('const latinize = (', 'const latinize = /* @__PURE__ */ (') :
				id.endsWith('/uPlot.esm.js') ? code.replace(/^\s*(uPlot\.join = |\(paths\.(stepped|spline) ).*$/gm, '') : null,
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
