// The scripts that stand in pictures, each one file for itself: `vite build --mode svg`, `--mode html` and `--mode unpack`. A picture
// may be of any encoding and stands in XML, so the script is ASCII and has no end of a CDATA section or of a script.
import { defineConfig } from 'vite';

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
	build: {
		target: 'es2022',
		outDir: 'dist',
		emptyOutDir: false,
		modulePreload: false,
		reportCompressedSize: false,
		rollupOptions: {
			input: `src/picture/${mode}.ts`,
			output: { format: 'iife', entryFileNames: `picture-${mode}.js` },
		},
	},
}));
