// Numbers in the encoding of src/render/table.c.

const digit = (text: string, at: number) => {
	const c = text.charCodeAt(at);
	return c === 33 ? 29 : c - 63;
};

export class Digits {
	private at = 0;

	constructor(private readonly text: string) {}

	get more(): boolean {
		return this.at < this.text.length;
	}

	next(): number {
		for (let v = 0, scale = 1; ; scale *= 32) {
			const d = digit(this.text, this.at++);
			v += (d & 31) * scale;
			if (d < 32)
				return v;
		}
	}

	signed(): number {
		const v = this.next();
		return v % 2 ? -(v + 1) / 2 : v / 2;
	}
}

// Decodes #rrggbb from four digits each.
export function rgb(text: string): string[] {
	const colors: string[] = [];
	for (let at = 0; at < text.length; at += 4) {
		let v = 1;
		for (let i = at; i < at + 4; i++)
			v = v << 6 | digit(text, i);
		colors.push(`#${v.toString(16).slice(1)}`);
	}
	return colors;
}
