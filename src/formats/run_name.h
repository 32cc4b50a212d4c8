/* run_name.h: names a run that comes from a file. */
#ifndef FORMATS_RUN_NAME_H
#define FORMATS_RUN_NAME_H

#include "profile.h"
#include "strobe_wire.h"

struct run_name {
	char id[STROBE_WIRE_RUN_KEY + 1], source[STROBE_WIRE_RUN_KEY + 1];
};

/* xhprof and uprofiler keep runs in files named ID.SOURCE.xhprof and ID.SOURCE.uprofiler; they may be compressed, or JSON.
 * False if `path` has no such name. */
bool run_name_of_file(const char *path, struct run_name *ret);

/* An id that is the same for the same profile with the same labels, and never for two that differ. False if the profile
 * cannot be a run; storing it reports why. */
bool run_name_of_profile(const struct profile *p, char ret_id[STROBE_WIRE_RUN_KEY + 1]);

#endif
