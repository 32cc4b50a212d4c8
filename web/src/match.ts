// The worker that matches users' regular expressions against the names of a profile: one that never ends blocks only
// this thread, which can be terminated.

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
