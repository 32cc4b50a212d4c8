/* pyroscope_time.h: parses times in the forms of Pyroscope's older API. */
#ifndef PYROSCOPE_TIME_H
#define PYROSCOPE_TIME_H

#include "err.h"
#include <stdint.h>

/* "20261121" (a day, UTC), "now", "now-1h" (s, m, min, h, d, w, M of 30 days, mon, y of 365), or a number since 1970: of 13 digits in
 * milliseconds, of 16 in microseconds, of 19 in nanoseconds, else in seconds. -EINVAL with a sentence. */
int pyroscope_time_parse(const char *text, int64_t now_ns, int64_t *ret_ns, struct err *err);

#endif
