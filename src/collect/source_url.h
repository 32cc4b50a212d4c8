/* source_url.h: parameters that several sources have in their URLs, about the lines that come from them.
 *
 *	label.NAME=VALUE	a label of each line and message that does not have it itself
 *	clock=wall|cpu		the clock of the sampling
 *	period=DURATION		between two samples; "0.01" is 10 ms
 */
#ifndef COLLECT_SOURCE_URL_H
#define COLLECT_SOURCE_URL_H

#include "source.h"

struct source_hints {
	struct labels labels;
	enum strobe_clock clock;
	int64_t period_ns;
};

void source_hints_init(struct source_hints *h);
void source_hints_done(struct source_hints *h);

/* Returns 1 if the parameter is one of these and was set, 0 for any other, -EINVAL with a sentence. */
int source_hints_set(struct source_hints *h, const char *name, const char *value, struct err *err);

/* `h` must outlive the result. */
struct message_metadata source_hints_about(const struct source_hints *h);

/* Whether two URLs differ in their parameters only. */
bool source_url_same_place(const char *a, const char *b);

/* The first `n` bytes of a path without doubled slashes and "/./". Links and ".." stay, since the path may lead elsewhere
 * later. The caller frees it. */
char *source_url_path(const char *path, size_t n);

/* The path of a directory without links and "..", the same in any spelling; parts that do not exist yet stay. `path` is
 * absolute and shorter than PATH_MAX. The caller frees it. */
char *source_url_directory(const char *path);

#endif
