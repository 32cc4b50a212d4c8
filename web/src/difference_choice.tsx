// The choice of what widths and colors mean in the graph of a difference.

import { ofSelf } from './file/paint';
import { facts } from './file/start';
import { change, selfColors, setFilters, setSelfColors, view } from './state';

const WIDTHS = [['', 'larger side'], ['after', 'after'], ['before', 'before'], ['difference', 'change']];

export function DifferenceChoice() {
	const { filters } = view.value, given = IN_FILE ? facts().widthOf || '' : '', first = given === 'maximum' ? '' : given, now = filters.find(([key]) => key === 'width')?.[1] ?? first;
	const self = IN_FILE ? ofSelf.value : selfColors.value, others = filters.filter(([key]) => key !== 'width');
	return <>
		<label>width <select aria-label="Width" value={now === 'maximum' ? '' : now} onChange={({ currentTarget: { value } }) =>
			change({ filters: value === first ? others : [...others, ['width', value || 'maximum']] })}>
			{WIDTHS.map(([value, words]) => <option key={value} value={value}>{words}</option>)}
		</select></label>
		<button type="button" aria-pressed={self} title="Colors by self value, without callees"
			onClick={() => IN_FILE ? setFilters('self', !self === !!facts().self ? [] : [self ? '0' : '1']) : setSelfColors(!self)}>self</button>
	</>;
}
