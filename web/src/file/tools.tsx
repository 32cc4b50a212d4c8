// Controls that only a page in a file has: the choice of colors.

import { pane, setFilters, view } from '../state';
import { colors, firstColors, hasFrames, type Colors } from './paint';
import { facts } from './start';

const COLORS: [Colors, string][] = [['page', 'namespace'], ['function', 'palette'], ['layer', 'layer'], ['package', 'package']];

// Applies to boxes that are functions: groups, the call graph and the flame chart have their own colors.
export function ColorChoice() {
	if (!hasFrames.value || !view.value.function && pane.value !== 'both' && pane.value !== 'graph')
		return null;
	const choose = (to: string) => setFilters('color', to === firstColors() ? [] : [to]);
	return <>
		<label>colors <select aria-label="Colors" value={colors.value} onChange={(e) => choose(e.currentTarget.value)}>
			{COLORS.filter(([c]) => c !== 'function' || facts().hasColors).map(([c, words]) => <option key={c} value={c}>{words}</option>)}
		</select></label>
		{colors.value === 'layer' && <span class="legend layers">{facts().layers.map(([name, color]) => <span key={name}><i style={{ background: color }} />{name}</span>)}</span>}
	</>;
}
