/* push_time.h: parses times in Pyroscope's URLs: "1764190000", "1764190000123", "20261126", "now-1h". */
#ifndef EXCHANGE_PUSH_TIME_H
#define EXCHANGE_PUSH_TIME_H

#include <stdbool.h>
#include <stdint.h>

/* 8 digits that form a date are one (UTC). Other numbers count from 1970: 13 digits are milliseconds, 16
 * microseconds, 19 nanoseconds and all others seconds. Also "now", and "now-" with a number and s, m, min, h, d, w, M
 * or y. False for anything else, and for times before 1970. */
bool push_time(const char *text, int64_t now_ns, int64_t *ret_ns);

#endif
