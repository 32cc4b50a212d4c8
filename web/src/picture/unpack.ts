// Runs the script of an SVG, which precedes this one in compressed form: uncompressed, it would be larger than most
// pictures. src/render/embed.py packs it: deflate, 13 bits in 2 characters, digits of 91: those from "!" to "~",
// without &, < and >. It runs synchronously, so that the document is drawn once, with the bar; and it evaluates
// nothing: the result is a script element, which a content security policy may allow by its hash.

interface Code {
	count: number[];		// codes of each length
	symbols: number[];		// by length, then by number
}

const self = document.currentScript!, packed = self.previousElementSibling!;
const text = packed.textContent!, out = new Uint8Array(1 << 17);
let at = 0;		// in bits
let size = 0;

function digit(i: number): number {
	const c = text.charCodeAt(i);
	return c - (c > 62 ? 36 : c > 60 ? 35 : c > 38 ? 34 : 33);
}

const values = Uint16Array.from({ length: text.length / 2 }, (_, i) => digit(2 * i) * 91 + digit(2 * i + 1));

function bits(n: number): number {
	let v = 0;
	for (let i = 0; i < n; i++, at++)
		v |= (values[at / 13 | 0] >> at % 13 & 1) << i;
	return v;
}

function codeOf(lengths: number[]): Code {
	const code: Code = { count: [0], symbols: [] };
	for (let n = 1; n < 16; n++) {
		const before = code.symbols.length;
		lengths.forEach((length, symbol) => length === n && code.symbols.push(symbol));
		code.count.push(code.symbols.length - before);
	}
	return code;
}

function symbol({ count, symbols }: Code): number {
	for (let n = 1, code = 0, first = 0, index = 0; ; n++) {
		code = code << 1 | bits(1);
		if (code - first < count[n])
			return symbols[index + code - first];
		index += count[n];
		first = first + count[n] << 1;
	}
}

// Code lengths are encoded themselves: 16 repeats the last one, 17 and 18 are zeros.
function readLengths(code: Code, n: number): number[] {
	const lengths: number[] = [];
	while (lengths.length < n) {
		const s = symbol(code), length = s < 16 ? s : s > 16 ? 0 : lengths[lengths.length - 1];
		for (let k = s < 16 ? 1 : s < 17 ? 3 + bits(2) : s < 18 ? 3 + bits(3) : 11 + bits(7); k > 0; k--)
			lengths.push(length);
	}
	return lengths;
}

// A number with `n` extra bits; its base follows from how many numbers the preceding codes represent.
function extended(code: number, n: number): number {
	const extra = Math.max(0, (code >> n) - 1);
	return (extra ? (code & (1 << n) - 1 | 1 << n) << extra : code) + bits(extra);
}

// The stream is a single dynamic block: embed.py refuses others.
function readBlock(): void {
	const order = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15], ofLengths = Array(19).fill(0);
	at = 3;
	const literals = 257 + bits(5), distances = 1 + bits(5), n = 4 + bits(4);
	for (let i = 0; i < n; i++)
		ofLengths[order[i]] = bits(3);
	const lengths = readLengths(codeOf(ofLengths), literals + distances);
	const literal = codeOf(lengths.slice(0, literals)), distance = codeOf(lengths.slice(literals));
	for (let s = symbol(literal); s !== 256; s = symbol(literal)) {
		if (s < 256) {
			out[size++] = s;
			continue;
		}
		const n = s === 285 ? 258 : 3 + extended(s - 257, 2), back = 1 + extended(symbol(distance), 1);
		for (let i = 0; i < n; i++, size++)
			out[size] = out[size - back];
	}
}

readBlock();
const script = document.createElementNS(self.namespaceURI, 'script');
script.textContent = new TextDecoder().decode(out.subarray(0, size));
self.after(script);

export {};
