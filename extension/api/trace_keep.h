/* trace_keep.h: decides which traces to keep when their request or unit has ended: strobe.trace_keep,
 * "slow:500ms,status:5xx,failed".
 *
 *	slow:500ms, slow:2s	it took that long or longer
 *	status:404, status:5xx	the response has this status
 *	failed			it ended by an uncaught exception or a fatal error
 *
 * One matching condition is enough. An empty text has no conditions, and keeps everything.
 */
#ifndef STROBE_TRACE_KEEP_H
#define STROBE_TRACE_KEEP_H

#include "php.h"
#include "php_ini.h"

struct trace_keep {
	bool some;			/* there is at least one condition */
	bool failed;
	int64_t slow_ns;		/* 0: no condition on the duration */
	uint64_t statuses[10];		/* one bit for each status from 0 to 639 */
};

/* Returns false, with `ret` untouched, if the text is malformed. */
bool trace_keep_parse(const char *p, size_t n, struct trace_keep *ret);

/* Whether to keep a trace that took `ns`; `status` is 0 if there is none. */
bool trace_keep_wants(const struct trace_keep *k, int64_t ns, int status, bool failed);

/* Rejects malformed texts. */
ZEND_INI_MH(trace_keep_on_change);

#endif
