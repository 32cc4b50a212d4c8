/* run_totals.h: the stored form of a run's totals.
 *
 *   For each column of the profile: length and bytes of its name, the same of its unit, its sum (zigzag); all lengths and
 *   the sum are varints of wire/strobe_wire.h. A name or unit has 63 bytes at most.
 *
 * Totals by which lists can be sorted also have SQL columns, see run_totals_sorted.
 */
#ifndef STORE_RUN_TOTALS_H
#define STORE_RUN_TOTALS_H

#include "store.h"
#include <sqlite3.h>

#define RUN_TOTAL_MISSING	(-INT64_MAX)	/* the run has no such total; sorts below all others */
#define RUN_TOTALS_SORTED	5u

/* Names of the profile's columns whose totals have an SQL column of the same name. */
extern const char *const run_totals_sorted[RUN_TOTALS_SORTED];

void run_totals_put(const struct profile *p, struct buf *out);

/* Adds the readable totals to `r`; a damaged rest is ignored. */
void run_totals_get(const void *bytes, size_t n, struct store_run *r);

/* Appends the names and units of the readable totals, without their values. */
void run_totals_put_names(const void *bytes, size_t n, struct buf *out);

/* Gives the connection the SQL function run_total(totals, name): the value, or RUN_TOTAL_MISSING. Files that an older
 * Strobe wrote have no columns of totals. Returns SQLite's code. */
int run_totals_add_function(sqlite3 *db);

#endif
