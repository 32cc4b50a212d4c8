// The user's name, or the button to log out: only the server knows, so its element moves into our bar.

let account: Element | null = null;

export function keepAccount(root: Element): void {
	account = root.querySelector('.who');
}

export function showAccount(place: Element | null): void {
	if (account && place)
		place.append(account);
}
