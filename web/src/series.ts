// The series of the timeline: values of a label, the rest, and their colors.

import type { Timeline } from './api';

// The parts of a bar, from the bottom: values of a label and all others, or everything as one.
export function partsOf(t: Timeline): { name: string; samples: number[] }[] {
	if (!t.values)
		return [{ name: '', samples: t.samples }];
	const parts = t.values.map((v) => ({ name: v.value || '(none)', samples: v.samples }));
	return t.others!.some((n) => n > 0) ? [...parts, { name: 'others', samples: t.others! }] : parts;
}

// The name of a part's color in the style sheet.
export function colorOf(t: Timeline, part: number): string {
	return !t.values ? '--accent-fill' : part < t.values.length ? `--series-${part + 1}` : '--series-others';
}
