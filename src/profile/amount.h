/* amount.h: a value of a column as people read it: "1,234", "1.24 s", "3.50 MiB". */
#ifndef PROFILE_AMOUNT_H
#define PROFILE_AMOUNT_H

#include "buf.h"
#include <stdbool.h>
#include <stdint.h>

enum amount_unit {
	AMOUNT_COUNT,		/* a number with thousands commas; the noun is the caller's */
	AMOUNT_TIME,		/* nanoseconds, shown as ns, µs, ms, s, min or h with three digits */
	AMOUNT_BYTES,		/* B, KiB, MiB, GiB, TiB with three digits */
	AMOUNT_MILLIONTHS,	/* a number of millionths, shown as whole ones with three digits, or all of the whole part */
};

/* The way to show a column's unit ("count", "nanoseconds", "bytes", "millionths"); unknown ones are counts. */
enum amount_unit amount_unit(const char *unit);

/* Whether the number needs a noun behind it. */
bool amount_is_count(enum amount_unit unit);

/* Millionths as a plain decimal number: "0.4", "-3", without commas. */
void amount_put_millionths(struct buf *b, int64_t value);

void amount_put(struct buf *b, int64_t value, enum amount_unit unit);

/* 100 × part / whole with two decimals and no sign behind it; 0.00 of nothing. */
void amount_put_percent(struct buf *b, int64_t part, int64_t whole);

/* A share as tables of pages show it: "100%", "12.3%", "1.23%"; 0.00% of nothing. */
void amount_put_share(struct buf *b, int64_t part, int64_t whole);

#endif
