/* diff_picture.h: a difference as a picture. */
#ifndef COMMAND_DIFF_PICTURE_H
#define COMMAND_DIFF_PICTURE_H

#include "command.h"
#include "page_file.h"

struct diff_picture {
	const char *width_of, *delta;		/* by name; NULL is the default */
	const char *count_name;			/* unit of counts: "samples"; NULL where the unit is enough */
	struct flamegraph_options o;
};

/* Checks values given by name. Returns 0 or an exit code. */
int diff_picture_options(struct diff_picture *d, const struct command_spec *spec);

/* Returns the default title. */
const char *diff_picture_title(bool inverted);

/* Draws and writes a file: a page has all metrics, a picture the selected one. Returns 0 or an exit code. */
int diff_picture_write(struct diff_picture *d, const struct page_comparison *c, const char *path,
		       const struct command_spec *spec);

#endif
