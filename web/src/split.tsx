// The divider between two panes, moved by dragging or arrow keys. Its position is remembered in the browser.

import { signal } from '@preact/signals';
import * as format from './format';

const KEY = 'strobe-split', LEAST = 12, MOST = 88, USUAL = 33;

const share = signal(clamp(Number(format.remembered(KEY)) || USUAL));		// percent of the width, left of it

function clamp(v: number): number {
	return Math.min(MOST, Math.max(LEAST, v));
}

function set(v: number): void {
	share.value = Math.round(clamp(v) * 10) / 10;
	format.remember(KEY, String(share.value));
}

export function splitStyle(): Record<string, string> {
	return { '--split': `${share.value}%` };
}

export function Split() {
	return <div class="split" role="separator" aria-orientation="vertical" aria-label="Width of the table" tabIndex={0} aria-valuenow={Math.round(share.value)}
		aria-valuemin={LEAST} aria-valuemax={MOST} title="Drag to change the widths; a double click resets them"
		onPointerDown={(e) => e.currentTarget.setPointerCapture(e.pointerId)}
		onPointerMove={(e) => {
			const room = e.currentTarget.parentElement!.getBoundingClientRect();
			if (e.currentTarget.hasPointerCapture(e.pointerId))
				set(100 * (e.clientX - room.left) / room.width);
		}}
		onDblClick={() => set(USUAL)}
		onKeyDown={(e) => {
			const step = e.key === 'ArrowLeft' ? -2 : e.key === 'ArrowRight' ? 2 : 0;
			if (step)
				set(share.value + step);
		}} />;
}
