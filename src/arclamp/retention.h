/* retention.h: limits the number of log files per tag and period, counted like Arc Lamp.
 *
 * Applied when new files are about to be created. Files of the same format and tag (plain and packed) are sorted by
 * modification time, and the newest are kept, so that `retain` + 1 remain including the new ones. */
#ifndef ARCLAMP_RETENTION_H
#define ARCLAMP_RETENTION_H

#include "log_name.h"

#include <stdatomic.h>

struct retention_tag {
	struct str tag;
	unsigned new_files;		/* about to be created */
};

/* Scans the directory once. `keep` tells which files must be kept, because they are about to be written to. Files
 * that cannot be removed are logged. */
void retention_apply(const char *directory, const struct log_name *format, unsigned retain,
		     const struct retention_tag *tags, size_t count,
		     bool (*keep)(void *data, const char *name), void *data, _Atomic uint64_t *removed);

#endif
