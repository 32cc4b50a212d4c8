/* line_options.h: the parameters of a source's URL that describe its lines:
 * "…?label.host=web1&clock=cpu&period=0.01&channel=excimer". */
#ifndef COLLECT_LINE_OPTIONS_H
#define COLLECT_LINE_OPTIONS_H

#include "source_url.h"

struct line_options {
	struct source_hints hints;
	char *channel;				/* NULL: none */
};

/* Parses the percent-encoded query of a URL; NULL: none. -EINVAL with a sentence. Call line_options_done also after
 * an error. */
int line_options_parse(const char *query, struct line_options *ret, struct err *err);
void line_options_done(struct line_options *o);

#endif
