/* amount.h: formats a value of a column for people: "1,234", "1.24 s", "3.50 MiB". */
#ifndef PROFILE_AMOUNT_H
#define PROFILE_AMOUNT_H

#include "buf.h"
#include <stdbool.h>
#include <stdint.h>

enum amount_unit {
	AMOUNT_COUNT,		/* a number with thousands commas; the noun is the caller's */
	AMOUNT_TIME,		/* nanoseconds, shown as ns, µs, ms, s, min or h with three digits */
	AMOUNT_BYTES,		/* B, KiB, MiB, GiB, TiB with three digits */
	AMOUNT_MILLIONTHS,	/* a number of millionths, shown in whole units: three digits, or the integer part */
};

/* Returns the way to show a column's unit ("count", "nanoseconds", "bytes", "millionths"); unknown ones are counts. */
enum amount_unit amount_unit(const char *unit);

/* Tells whether the number must be followed by a noun. */
bool amount_is_count(enum amount_unit unit);

/* Puts millionths as a plain decimal number: "0.4", "-3", without commas. */
void amount_put_millionths(struct buf *b, int64_t value);

void amount_put(struct buf *b, int64_t value, enum amount_unit unit);

/* Puts 100 × part / whole with two decimals, without a percent sign; 0.00 if `whole` is 0. */
void amount_put_percent(struct buf *b, int64_t part, int64_t whole);

/* Puts a share like the tables of pages: "100%", "12.3%", "1.23%"; 0.00% if `whole` is 0. */
void amount_put_share(struct buf *b, int64_t part, int64_t whole);

#endif
