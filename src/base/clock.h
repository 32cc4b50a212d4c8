/* clock.h: times in nanoseconds, and as text. */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include "err.h"
#include <stdint.h>

#define NS_PER_SECOND	1000000000LL
#define NS_PER_DAY	(86400LL * NS_PER_SECOND)

#define CLOCK_DURATIONS	"90s, 15m, 2h, 7d or 250ms"	/* examples for errors */
#define CLOCK_TIMES	"now, -15m, 2026-11-21, 2026-11-21T07:30 (UTC) or seconds since 1970"

int64_t clock_wall_ns(void);		/* since 1970, UTC */
int64_t clock_monotonic_ns(void);
int64_t clock_boottime_ns(void);	/* monotonic, includes suspend */

/* The time used for expiry: the wall clock, except that a clock set ahead by more than an hour while we run is
 * trusted only after a day, because removed data does not come back when the time is corrected. Initialize with zeros. */
struct clock_age {
	int64_t offset_ns;		/* trusted difference of wall and boot time; 0: unknown yet */
	int64_t ahead_since_ns;		/* boot time; 0: the clock is not ahead */
	int64_t ahead_offset_ns;	/* the offset to be trusted after a day */
};

int64_t clock_age_ns(struct clock_age *a, int64_t wall_ns, int64_t boottime_ns);
int64_t clock_age_now_ns(struct clock_age *a);

/* The forms of a duration, for people: the same sentence in help, man pages and docs/pipeline.md. */
#define CLOCK_DURATION_FORMS "a number with ns, us, ms, s, m, h, d or w, such as 250ms or 1.5h; without a unit, seconds"

/* Parses "90", "90s", "15m", "2h", "7d", "250ms" to nanoseconds; a bare number is in seconds. */
int clock_parse_duration(const char *text, int64_t *ret_ns, struct err *err);

/* Parses "now", "-15m" (before `now_ns`), "2026-11-21", "2026-11-21T07:30" with optional seconds and Z (always UTC),
 * or a number of seconds since 1970 (with fraction) to nanoseconds since 1970. */
int clock_parse_time(const char *text, int64_t now_ns, int64_t *ret_ns, struct err *err);

/* Writes "2026-11-21T07:30:05Z" to `out`, at least 21 bytes. */
void clock_format(int64_t ns, char *out, size_t size);

#endif
