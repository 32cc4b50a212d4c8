// For large graphs the server sends only visible boxes. Gray ones represent neighbors that are too narrow, with
// everything on them (src/render/flame_part.h).

import type { FlameData } from './data';

export function isGray(d: FlameData, box: number): boolean {
	return IN_PAGE && d.frame[box] === d.narrow;
}

// Whether there are gray boxes on a box, at any depth.
export function hasGray(d: FlameData, box: number): boolean {
	let low = box, high = box + 1;
	while (low < high) {
		if (d.frame.subarray(low, high).includes(d.narrow))
			return true;
		[low, high] = [d.firstChild[low], d.endChild[high - 1]];
	}
	return false;
}

// The number of boxes, including those too narrow to be visible.
export function boxCount(d: FlameData): number {
	return (IN_PAGE ? d.joined : 0) + d.frame.reduce((n, frame) => n + (frame === d.narrow ? 0 : 1), -1);
}
