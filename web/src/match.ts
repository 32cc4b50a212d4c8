// The worker that runs regular expressions of people over the names of a profile: one that takes for ever takes a thread that
// can be ended, and not the page.

import { matchNames } from './flame/data';

export interface MatchRequest {
	names?: string[];	// others than before
	source: string;
	flags: string;
}

let names: string[] = [];

onmessage = ({ data }: MessageEvent<MatchRequest>) => {
	names = data.names || names;
	postMessage(matchNames(names, new RegExp(data.source, data.flags)));
};
