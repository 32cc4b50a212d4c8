/* trace_keep.h: the traces to keep when their request or unit has ended: strobe.trace_keep,
 * "slow:500ms,status:5xx,failed".
 *
 *	slow:500ms, slow:2s	it took that long or longer
 *	status:404, status:5xx	the response has this status
 *	failed			it ended by an uncaught exception or a fatal error
 *
 * One of the conditions is enough. An empty text has none, and keeps all.
 */
#ifndef STROBE_TRACE_KEEP_H
#define STROBE_TRACE_KEEP_H

#include "php.h"
#include "php_ini.h"

struct trace_keep {
	bool some;			/* there are conditions */
	bool failed;
	int64_t slow_ns;		/* 0: it does not matter how long it took */
	uint64_t statuses[10];		/* a bit for each from 0 to 639 */
};

/* Returns false, with `ret` untouched, for a text that is not as above. */
bool trace_keep_parse(const char *p, size_t n, struct trace_keep *ret);

/* Whether to keep a trace of `ns`; `status` is 0 where there is none. */
bool trace_keep_wants(const struct trace_keep *k, int64_t ns, int status, bool failed);

/* Refuses texts that are not as above. */
ZEND_INI_MH(trace_keep_on_change);

#endif
