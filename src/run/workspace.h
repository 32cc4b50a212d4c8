/* workspace.h: the private directory of one `strobe run`: settings for PHP and the socket, inaccessible to other users. */
#ifndef RUN_WORKSPACE_H
#define RUN_WORKSPACE_H

#include "err.h"
#include <stdbool.h>

struct workspace {
	char *directory, *ini, *socket;
	char *scan_dir;			/* the previous PHP_INI_SCAN_DIR with the directory appended */
};

struct workspace_settings {
	const char *extension;		/* NULL if PHP loads it already */
	const char *clock;
	double period;			/* seconds */
	bool trace;			/* trace every request, instead of sampling */
	bool flame_chart;		/* … including its calls in order */
};

/* Creates it under XDG_RUNTIME_DIR, TMPDIR or /tmp, with mode 0700. */
int workspace_init(struct workspace *w, const struct workspace_settings *s, struct err *err);

/* Removes it and its content; harmless if it was never created (all zero). */
void workspace_done(struct workspace *w);

#endif
