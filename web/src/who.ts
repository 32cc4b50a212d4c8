// The user's name, or the button to log out: only the server knows, so its element moves into our bar.

let who: Element | null = null;

export function keepWho(root: Element): void {
	who = root.querySelector('.who');
}

export function putWho(place: Element | null): void {
	if (who && place)
		place.append(who);
}
