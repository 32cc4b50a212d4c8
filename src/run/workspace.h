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
	const char *extension;		/* NULL if PHP loads it by itself */
	const char *clock;
	double period;			/* seconds */
	bool trace;			/* every request exactly, instead of by samples */
	bool flame_chart;		/* … with its calls in their order */
};

/* Created under XDG_RUNTIME_DIR, TMPDIR or /tmp, mode 0700. */
int workspace_init(struct workspace *w, const struct workspace_settings *s, struct err *err);

/* Removes it and all in it; fine on one that was never made (all zero). */
void workspace_done(struct workspace *w);

#endif
