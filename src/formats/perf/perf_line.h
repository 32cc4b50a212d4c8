/* perf_line.h: parses the lines of `perf script`.
 *
 *	php 24636/24640 [001] 75695.008865:     250000 cpu-clock:u:	an event
 *	COMM PID/TID [CPU] TIME: PERIOD EVENT:
 *
 * PID/ is only present on request, CPU and PERIOD depend on the recording, and COMM may contain spaces and digits.
 * The fields of a trace point follow EVENT:. The call chain follows, leaf first, and an empty line ends it:
 *
 *		    561be3f0 zend_call_function+0x2c0 (/usr/bin/php8.2)	a frame
 *		ADDRESS SYMBOL+OFFSET (MODULE)
 *
 * Recorded without call chains, the only frame of an event follows EVENT:, and COMM is indented.
 */
#ifndef FORMATS_PERF_LINE_H
#define FORMATS_PERF_LINE_H

#include "input.h"
#include <stdbool.h>

struct perf_event {
	struct str comm;
	struct str pid, tid;	/* `tid` is empty if there is only one number, which may be a PID or a TID */
	struct str time;	/* "75695.008865" in seconds; empty if there is none */
	struct str name;	/* "cpu-clock:u"; empty if the line does not end with it */
	uint64_t period;	/* 0 if there is none */
	struct str rest;	/* the text after PID/TID */
};

struct perf_frame {
	struct str address, symbol, module;	/* the symbol with its offset */
};

/* Tells whether `line` (without newline) begins an event; it must not be indented. */
bool perf_event_parse(struct str line, struct perf_event *ret);

/* Tells whether `line` is an event and its only frame; it may be indented. */
bool perf_flat_parse(struct str line, struct perf_event *ret, struct perf_frame *ret_frame);

bool perf_frame_parse(struct str line, struct perf_frame *ret);

#define PERF_CHAIN_BYTES ((size_t)64 << 20)

/* Reads the lines below an event up to an empty line, the next event or the end, as one text without the last
 * newline; valid until the next call. Returns false if it is longer than PERF_CHAIN_BYTES. */
bool perf_chain_take(struct input *in, struct str *ret);

/* Checks from `p` to the end of the line, which may include a carriage return. */
static inline bool perf_line_is_empty(const char *p, const char *stop)
{
	return p == stop || (*p == '\r' && p + 1 == stop);
}

static inline bool perf_is_space(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

#endif
