// Sorting names, and shortening them for boxes without room for the whole one; src/render/short_name.c has the same
// rules.

// As displayed: characters that change the direction of text become visible and have no effect.
export function visible(name: string): string {
	return name.replace(/[\u202a-\u202e\u2066-\u2069]/g, '\ufffd');
}

// "Wiki\\Parser::parse", "Parser::parse", "parse"; "/srv/wiki/index.php", "index.php"; closures likewise.
export function shorterNames(name: string): string[] {
	const closure = name.indexOf('{closure:');
	if (closure >= 0) {
		const scope = name.slice(name.lastIndexOf('\\', closure) + 1, closure);
		const place = name.slice(Math.max(name.lastIndexOf('/') + 1, closure + '{closure:'.length), -1);
		return [name, `${scope}{closure ${place}}`, `{closure ${place}}`, 'closure'];
	}
	if (name.startsWith('/'))
		return [name, name.slice(name.lastIndexOf('/') + 1)];
	const short = name.slice(name.lastIndexOf('\\') + 1), at = short.lastIndexOf('::');
	return at > 0 ? [name, short, short.slice(at + 2)] : [name, short];
}

// The rank of each name in the sort order.
export function ranks(names: ArrayLike<string>): Uint32Array {
	const rank = new Uint32Array(names.length);
	rank.map((_, i) => i).sort((a, b) => names[a] < names[b] ? -1 : names[a] > names[b] ? 1 : a - b).forEach((name, place) => rank[name] = place);
	return rank;
}
