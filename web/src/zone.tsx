// The time zone for all times of a page, and its switch.

import * as format from './format';

export function Zone() {
	return <button type="button" class="zone" aria-label={`Times are in ${format.zone()}; switch`} title="The time zone here; switch between the browser's and UTC"
		onClick={format.switchZone}>{format.zone()}</button>;
}
