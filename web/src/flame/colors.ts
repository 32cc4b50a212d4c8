// Colors of boxes: one hue per namespace, class or file, so that what belongs together looks alike; PHP's own
// functions are blue-gray, since they have no file, and the kernel's, in system-wide recordings, purple. If no name
// has a file, as in folded stacks and in groups, PHP's own functions cannot be recognized. Lightness differs by name,
// so that neighbors can be distinguished, and text on it stays readable: contrast is above 4.5 to 1 in both themes.

import type { FlameData } from './data';

export interface Theme {
	dark: boolean;
	background: string;
	text: string;
	run: string;		// many boxes, each narrower than half a pixel
	match: string;
	matchText: string;
	focus: string;
	root: string;
}

export function readTheme(dark: boolean): Theme {
	return dark ? {
		dark, background: '#15171a', text: '#f2f0ec', run: '#3a3d42', match: '#b45cf0', matchText: '#160a1f', focus: '#ffffff',
		root: '#33373d',
	} : {
		dark, background: '#ffffff', text: '#1c1a17', run: '#d4d1cb', match: '#8b2fc9', matchText: '#ffffff', focus: '#111111',
		root: '#e4e1da',
	};
}

function hash(text: string): number {
	let h = 2166136261;
	for (let i = 0; i < text.length; i++)
		h = Math.imul(h ^ text.charCodeAt(i), 16777619);
	h ^= h >>> 15;
	return (Math.imul(h, 0x2c1b3c6d) >>> 8) & 0xffff;
}

// The owner of a function: "Wiki" of "Wiki\Parser::parse", "Parser" of "Parser::parse", else its file, which also
// begins the name of a line.
function owner(name: string, file: string): string {
	const method = name.lastIndexOf('::');
	const whole = method > 0 ? name.slice(0, method) : name;
	const space = whole.lastIndexOf('\\');
	if (space > 0)
		return whole.slice(0, space);
	return method > 0 ? whole : file || name.replace(/:\d+$| \[no line\]$/, '');
}

function frameColor(theme: Theme, name: string, file: string, own: boolean, faint: boolean): string {
	const shade = hash(name) % 9;
	let hue: number, saturation: number;
	if (name.endsWith('_[k]')) {
		hue = 285 + hash(name) % 15;
		saturation = theme.dark ? 22 : 38;
	} else if (own) {
		hue = 6 + hash(owner(name, file)) % 47;
		saturation = theme.dark ? 46 : 78;
	} else {
		hue = 205 + hash(name) % 20;
		saturation = theme.dark ? 18 : 32;
	}
	const lightness = theme.dark ? 31 + shade * 1.2 : 70 + shade * 1.4;
	return faint ? `hsl(${hue} ${saturation / 4}% ${theme.dark ? 22 : 90}%)` : `hsl(${hue} ${saturation}% ${lightness}%)`;
}

// The color of a frame. Faint colors form the background of search matches.
export function colorOf({ names, files, frameName, frameFile, narrow }: FlameData, theme: Theme, frame: number, faint: boolean): string {
	const name = names[frameName[frame]], file = files[frameFile[frame]];
	return frame === frameName.length - (IN_PAGE && narrow >= 0 ? 2 : 1) ? theme.root
		: frameColor(theme, name, file, !!file || files.length < 2 && name[0] !== '[', faint);
}
