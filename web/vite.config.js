// One script, one stylesheet, and the chart as a chunk of its own. Names are fixed: the server puts a hash of all of
// them into the path they are served under.
import { defineConfig } from 'vite';

export default defineConfig({
	base: './',
	publicDir: false,
	define: { WITH_EXACT: 'false' },
	oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
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
