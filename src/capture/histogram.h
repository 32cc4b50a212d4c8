/* histogram.h: writes the durations of waits or calls as text: least, average, most, and a histogram by powers of 2. Pure. */
#ifndef CAPTURE_HISTOGRAM_H
#define CAPTURE_HISTOGRAM_H

#include "bpf/distribution.h"
#include "buf.h"

void distribution_merge(struct distribution *into, const struct distribution *from);

/* Appends the distribution in microseconds, in the format of SystemTap's scripts:
 *
 *	=== Off-CPU time distribution (in us) ===
 *	min/avg/max: 4/1071/5120
 *	value |-------------------------------------------------- count
 *	    2 |                                                      0
 *	    4 |@@@@@@                                               12
 *
 * A row counts times from its value up to the next row's. A "~" replaces empty rows. */
void histogram_put(const struct distribution *d, const char *title, struct buf *out);

#endif
