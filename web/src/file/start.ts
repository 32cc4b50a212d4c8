// The facts about a page in a file, stored beside its script.

import type { Chance } from '../flame/chance';
import type { Column } from '../flame/data';
import type { Meaning } from '../flame/derive';
import type { ExactTable } from '../flame/exact';
import type { TableAnswer } from '../api';

export type ColorBy = 'function' | 'layer' | 'package';
type Around = { count: number; name: string[]; file: string[]; line: number[]; functions: (0 | Neighborhood)[] };

export type PackedEdge = [frame: number, values: number[], atMost: number, measured?: number];		// -1: no caller

export interface Neighborhood {
	self: number[];
	total: number[];
	again: number[];
	at_most: boolean;
	callers: PackedEdge[];
	callees: PackedEdge[];
}

// Written by src/render/html.c and src/command/page_file.c.
export interface PageData {
	title: string;
	subtitle?: string;
	note: string;
	reversed: boolean;
	inverted: boolean;
	colorBy: ColorBy;
	hasColors: boolean;
	self?: boolean;
	widthOf?: Meaning;
	negate?: boolean;
	factor?: number;
	total?: number;
	fills: Record<ColorBy, string>;
	layers: [name: string, color: string][];
	attributes?: Record<number, [group: string, link: string, title: string]>;
	exact?: ExactTable;
	chart?: { calls: number; start: number; length_ns: number };
	columns: (Column & { measured?: [column: number, numerator: number, denominator: number]; chance?: Chance })[];		// scaled differences: the column before scaling, and its factor
	column: number;
	period_ns: number;
	estimated?: boolean;
	labels: Record<string, string>;
	compared?: { before: string; after: string; factor: number };
	grouped?: string;		// the grouping that the file was written with
	groups: Record<string, { of: number[]; names: string[] }>;
	own: number[];
	tables?: Record<string, Partial<TableAnswer> | Partial<TableAnswer>[]>;
	around?: Record<string, Around | (Around | 0)[]>;		// comparisons, by metric; 0: computed by the page
}

let about: PageData | null = null;

export function facts(): PageData {
	return about ||= JSON.parse(document.getElementById('about')!.textContent!) as PageData;
}

export function initialState(): { reverse: boolean; inverted: boolean; grouped?: string } {
	return { reverse: facts().reversed, inverted: facts().inverted, grouped: facts().grouped };
}
