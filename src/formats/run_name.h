/* run_name.h: names a run that is read from a file. */
#ifndef FORMATS_RUN_NAME_H
#define FORMATS_RUN_NAME_H

#include "profile.h"
#include "strobe_wire.h"

struct run_name {
	char id[STROBE_WIRE_RUN_KEY + 1], source[STROBE_WIRE_RUN_KEY + 1];
};

/* xhprof and uprofiler store runs in files named ID.SOURCE.xhprof and ID.SOURCE.uprofiler; these may be compressed,
 * or JSON. Returns false if `path` does not have that form. */
bool run_name_of_file(const char *path, struct run_name *ret);

/* Computes an id that is the same for equal profiles with equal labels, and different otherwise. Returns false if the
 * profile cannot be a run; storing it reports why. */
bool run_name_of_profile(const struct profile *p, char ret_id[STROBE_WIRE_RUN_KEY + 1]);

#endif
