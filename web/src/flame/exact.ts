// The values of functions when boxes are an estimate: computed from measured pairs of caller and callee
// (src/render/exact_table.c). Functions have the same numbers as frames.

import { Digits } from '../picture/digits';

export interface ExactTable {
	whole: number[];
	ofCalls?: boolean;
	functions: string;
	nodes?: string;
	pairs?: string;
}

// One side: the base of shares, and self and total by function.
export interface Side {
	whole: number;
	self: Float64Array;
	total: Float64Array;
}

// The smallest and largest possible share of the whole.
export type Range = [least: number, most: number];

// Indices of pairs sorted by caller: those of node n are from first[n] to first[n + 1].
function byCaller(nodes: number, caller: Uint32Array): { first: Uint32Array; list: Uint32Array } {
	const first = new Uint32Array(nodes + 1), list = new Uint32Array(caller.length);
	caller.forEach((n) => first[n + 1]++);
	for (let n = 0; n < nodes; n++)
		first[n + 1] += first[n];
	const at = first.slice();
	caller.forEach((n, i) => list[at[n]++] = i);
	return { first, list };
}

// The nodes reachable from one, along pairs or, with the ends swapped, against them.
function reached(from: number, nodes: number, caller: Uint32Array, callee: Uint32Array): Uint8Array {
	const { first, list } = byCaller(nodes, caller), seen = new Uint8Array(nodes), waiting = [from];
	seen[from] = 1;
	for (let n = waiting.pop(); n !== undefined; n = waiting.pop())
		for (let i = first[n]; i < first[n + 1]; i++) {
			const next = callee[list[i]];
			if (!seen[next]) {
				seen[next] = 1;
				waiting.push(next);
			}
		}
	return seen;
}

export class Exact {
	readonly sides: Side[];
	readonly known: Uint8Array;	// by function: 1, or 2 if its totals are limits
	readonly ofCalls: boolean;	// totals are meaningless
	private readonly of?: Uint32Array;	// by node: 1 + its function, 0 if it has no number here; node 0 is the root
	private readonly self?: Float64Array;
	private readonly caller?: Uint32Array;
	private readonly callee?: Uint32Array;
	private readonly value?: Float64Array;

	constructor(t: ExactTable, functions: number) {
		const digits = new Digits(t.functions);
		this.ofCalls = !!t.ofCalls;
		this.known = new Uint8Array(functions);
		this.sides = t.whole.map((whole) => ({ whole, self: new Float64Array(functions), total: new Float64Array(functions) }));
		for (let f = 0; f < functions; f++)
			if (this.known[f] = digits.next())
				for (const side of this.sides) {
					side.self[f] = digits.signed();
					side.total[f] = digits.signed();
				}
		if (t.nodes === undefined || t.pairs === undefined)
			return;
		const nodes = new Digits(t.nodes), pairs = new Digits(t.pairs);
		const of = [0], self = [0], caller: number[] = [], callee: number[] = [], value: number[] = [];
		while (nodes.more) {
			of.push(nodes.next());
			self.push(nodes.signed());
		}
		while (pairs.more) {
			caller.push(pairs.next());
			callee.push(pairs.next());
			value.push(pairs.signed());
		}
		this.of = Uint32Array.from(of);
		this.self = Float64Array.from(self);
		this.caller = Uint32Array.from(caller);
		this.callee = Uint32Array.from(callee);
		this.value = Float64Array.from(value);
	}

	// The joint values of the functions for which `match` is set; a stack with several of them counts once.
	matched(match: Uint8Array): Range {
		const { self, total, whole } = this.sides[0], found: number[] = [];
		for (let f = 0; f < match.length; f++)
			if (match[f] && this.known[f])
				found.push(f);
		const sum = (values: Float64Array) => found.reduce((all, f) => all + values[f], 0);
		if (found.length === 0)
			return [0, 0];
		if (this.ofCalls)
			return [sum(total), sum(total)];
		const alone = (f: number): Range => [this.known[f] === 2 ? Math.max(self[f], 0) : total[f], total[f]];
		if (found.length === 1)
			return alone(found[0]);
		const bounds = this.together(match), most = Math.min(sum(total), whole, bounds[1]);
		const least = Math.max(sum(self), bounds[0], ...found.map((f) => alone(f)[0]));
		return [Math.min(least, most), most];
	}

	// The same rules as for one function in src/profile/edges_sums.c, with all matches treated as one node.
	private together(match: Uint8Array): Range {
		const { of, self, caller, callee, value } = this;
		if (!of || !self || !caller || !callee || !value)
			return [0, Infinity];
		const us = of.length, nodes = us + 1, place = of.map((f, n) => f && match[f - 1] ? us : n);
		const from = caller.map((n) => place[n]), to = callee.map((n) => place[n]);
		const down = reached(us, nodes, from, to), up = reached(us, nodes, to, from);
		const isIn = (n: number) => down[n] && up[n];		// nodes on a cycle back to the matches
		let cycle = 0, others = 0, own = 0, calls = 0, out = 0;
		const entries = new Set<number>();
		for (let n = 0; n < of.length; n++) {
			if (!isIn(place[n]))
				continue;
			cycle += self[n];
			if (place[n] === us)
				own += self[n];
			else
				others++;
		}
		for (let i = 0; i < value.length; i++) {
			const a = isIn(from[i]), b = isIn(to[i]);
			if (a && !b) {
				cycle += value[i];
				out += from[i] === us ? value[i] : 0;
			}
			if (!a && b)
				entries.add(to[i]);
			if (from[i] !== us && to[i] === us)
				calls += value[i];
		}
		if (others === 0 || entries.size === 1 && entries.has(us))
			return [cycle, cycle];
		return [own + out, Math.min(cycle, calls)];
	}
}
