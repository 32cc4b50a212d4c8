// The user's name, or the logout button: only the server knows which, so its element is moved into our bar.

let account: Element | null = null;

export function keepAccount(root: Element): void {
	account = root.querySelector('.who');
}

export function showAccount(place: Element | null): void {
	if (account && place)
		place.append(account);
}
