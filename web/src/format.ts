// Numbers and times as people read them.

const whole = new Intl.NumberFormat('en', { maximumFractionDigits: 0 }), parts = new Intl.NumberFormat('en', { maximumFractionDigits: 6 });

export function count(v: number): string {
	return whole.format(v);
}

export function share(part: number, all: number): string {
	const percent = all ? 100 * part / all : 0;
	return `${percent >= 99.95 ? '100' : percent.toFixed(percent < 9.95 ? 2 : 1)}%`;
}

function seconds(s: number): string {
	if (s >= 3600)
		return `${(s / 3600).toFixed(1)} h`;
	if (s >= 60)
		return `${(s / 60).toFixed(1)} min`;
	if (s >= 1)
		return `${s.toFixed(2)} s`;
	return s >= 0.001 ? `${(s * 1000).toFixed(1)} ms` : `${(s * 1e6).toFixed(0)} µs`;
}

export function value(v: number, unit: string): string {
	if (unit === 'nanoseconds')
		return seconds(v / 1e9);
	if (unit === 'bytes') {
		const power = Math.min(4, Math.floor(Math.log2(Math.max(1, v)) / 10));
		return `${power ? (v / 1024 ** power).toFixed(1) : v} ${['B', 'KiB', 'MiB', 'GiB', 'TiB'][power]}`;
	}
	if (unit === 'millionths')		// parts of counts
		return parts.format(v / 1e6);
	return count(v);
}

// "samples", "wall time", "cpu time" of the names that columns have.
export function columnName(name: string): string {
	const words: Record<string, string> = {
		samples: 'samples', wall_ns: 'wall time', cpu_ns: 'CPU time', off_cpu_ns: 'off-CPU time', calls: 'calls',
	};
	return words[name] || name.replace(/_bytes$/, '').replaceAll('_', ' ');
}

export function time(unix: number, withDay: boolean): string {
	const d = new Date(unix * 1000);
	const clock = d.toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit', second: '2-digit' });
	return withDay ? `${d.toLocaleDateString('en-CA')} ${clock}` : clock;
}

export function range(from: number, to: number): string {
	const today = new Date().toDateString(), a = new Date(from * 1000).toDateString(), b = new Date(to * 1000).toDateString();
	return `${time(from, a !== today || b !== today)} – ${time(to, b !== a)}`;
}

export function ago(s: number): string {
	if (s < 2)
		return 'now';
	return s < 120 ? `${Math.round(s)} s ago` : s < 7200 ? `${Math.round(s / 60)} min ago` : `${Math.round(s / 3600)} h ago`;
}
