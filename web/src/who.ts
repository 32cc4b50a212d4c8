// Who is logged in, and the button to log out: only the server knows, so what it sent moves into our bar.

let who: Element | null = null;

export function keepWho(root: Element): void {
	who = root.querySelector('.who');
}

export function putWho(place: Element | null): void {
	if (who && place)
		place.append(who);
}
