// Lists and forms that pop up: a click elsewhere closes them, and so does Escape, wherever the focus is.

import { useLayoutEffect } from 'preact/hooks';

// `root` has the button, which says aria-expanded, and what it opens.
export function usePopup(root: { current: HTMLElement | null }, isOpen: boolean, close: () => void): void {
	useLayoutEffect(() => {
		if (!isOpen)
			return;
		const away = (e: Event) => root.current?.contains(e.target as Node) || close();
		const key = (e: KeyboardEvent) => {
			if (e.key !== 'Escape')
				return;
			e.preventDefault();
			e.stopPropagation();
			close();
			root.current?.querySelector<HTMLElement>('[aria-expanded]')?.focus();
		};
		addEventListener('pointerdown', away);
		addEventListener('keydown', key, true);
		return () => {
			removeEventListener('pointerdown', away);
			removeEventListener('keydown', key, true);
		};
	}, [isOpen]);
}
