// Functions of the same name in several files: links to one of them include the file.

import { computed } from '@preact/signals';
import { facts } from './file/start';
import { table } from './load';
import { openFunction } from './state';

// Measured neighbors in a file cover all functions of a name.
const shared = computed(() => {
	const file = new Map<string, string>(), names = new Set<string>();
	if (!(IN_FILE && facts().around))
		table.value?.name.forEach((name, i) => file.has(name) ? file.get(name) !== table.value!.file[i] && names.add(name) : file.set(name, table.value!.file[i]));
	return names;
});

// The file of a function at a place such as "/srv/a.php:12", if its name alone is ambiguous.
export function fileOf(name: string, place = ''): string {
	return shared.value.has(name) ? place.replace(/:\d+$/, '') : '';
}

export function openAt(name: string, place = ''): void {
	openFunction(name, fileOf(name, place));
}
