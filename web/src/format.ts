// Formats numbers and times for people.

import { signal } from '@preact/signals';
import { amount } from './amount';

export { amount as value, share } from './amount';

export function count(v: number): string {
	return amount(v, 'count');
}

// Averages have counts with decimals.
export function isCount(unit: string): boolean {
	return unit === 'count' || unit === 'millionths';
}

export function change(v: number, unit: string): string {
	return `${v > 0 ? '+' : ''}${amount(v, unit)}`;
}

// The names of columns for people: "samples", "wall time", "cpu time".
export function columnName(name: string): string {
	const words: Record<string, string> = {
		samples: 'samples', wall_ns: 'wall time', cpu_ns: 'CPU time', off_cpu_ns: 'off-CPU time', calls: 'calls',
	};
	return words[name] || name.replace(/_bytes$/, '').replaceAll('_', ' ');
}

// --- Times, all in one zone ---

const KEY = 'strobe-time-zone';
let local = '';

// Storage may be forbidden; it is only used to remember choices.
export function remembered(key: string): string {
	try {
		return localStorage.getItem(key) || '';
	} catch {
		return '';
	}
}

export function remember(key: string, text: string): void {
	try {
		localStorage.setItem(key, text);
	} catch {
		// nothing depends on it
	}
}

export const isUtc = signal(remembered(KEY) === 'UTC');

export function zone(): string {
	return isUtc.value ? 'UTC' : local ||= Intl.DateTimeFormat().resolvedOptions().timeZone || 'UTC';
}

export function switchZone(): void {
	isUtc.value = !isUtc.value;
	remember(KEY, isUtc.value ? 'UTC' : '');
}

// "2026-11-23" and "16:04:05".
export function moment(unix: number): [day: string, clock: string] {
	const d = new Date(unix * 1000), timeZone = zone();
	return [d.toLocaleDateString('en-CA', { timeZone }),
		d.toLocaleTimeString('en-GB', { timeZone, hour: '2-digit', minute: '2-digit', second: '2-digit' })];
}

export function time(unix: number, withDay: boolean): string {
	const [day, clock] = moment(unix);
	return withDay ? `${day} ${clock}` : clock;
}

// Converts a local time "2026-11-28T16:18:00" of the zone to seconds since 1970; a time skipped by a clock change
// becomes a nearby one.
function fromClock(text: string): number {
	const wanted = Date.parse(`${text}Z`) / 1000, ahead = (unix: number) => Date.parse(`${moment(unix).join('T')}Z`) / 1000 - Math.floor(unix);
	return wanted - ahead(wanted - ahead(wanted));
}

// The same local time that many days earlier.
export function daysBefore(unix: number, days: number): number {
	const clock = Date.parse(`${moment(unix).join('T')}Z`) - days * 86_400_000;
	return fromClock(new Date(clock).toISOString().slice(0, 19)) + unix % 1;
}

const TYPED = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d)(:\d\d)?)?$/, UTC = /\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?Z?/g;

// Converts a time typed in the displayed zone for the server; "-1h", "now" and times with a Z are unchanged.
export function toServer(text: string): string {
	const [, day, clock = '00:00', second = ':00'] = TYPED.exec(text.trim()) || [], unix = day ? fromClock(`${day}T${clock}${second}`) : NaN;
	return Number.isNaN(unix) ? text : new Date(unix * 1000).toISOString().replace('.000', '');
}

// Converts in the opposite direction.
export function fromServer(text: string): string {
	const at = text && TYPED.test(text.replace(/(\.\d+)?Z$/, '')) ? Date.parse(/Z$/.test(text) ? text : text.length > 10 ? `${text.replace(' ', 'T')}Z` : text) : NaN;
	return Number.isNaN(at) ? text : moment(at / 1000).join('T');
}

// Converts the UTC times in a sentence of the server to the displayed zone.
export function sentence(text: string): string {
	const here = text.replace(UTC, (t) => t.endsWith('Z') ? time(Date.parse(t) / 1000, true) : t);
	return here.charAt(0).toUpperCase() + here.slice(1);
}

export function range(from: number, to: number): string {
	const [today] = moment(Date.now() / 1000), [a] = moment(from), [b] = moment(to);
	return `${time(from, a !== today || b !== today)} – ${time(to, b !== a)}`;
}

export function ago(s: number): string {
	if (s < 2)
		return 'now';
	return s < 120 ? `${Math.round(s)} s ago` : s < 7200 ? `${Math.round(s / 60)} min ago` : `${Math.round(s / 3600)} h ago`;
}
