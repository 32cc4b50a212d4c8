// Lists and forms that pop up: a click elsewhere or Escape closes them, wherever the focus is.

import { useLayoutEffect } from 'preact/hooks';

// `root` contains the button, whose aria-expanded is set, and the popup.
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
