/* run_kind.h: the kind of a run, which is what lists of labels and profile types show of it: its source, its labels except
 * those that differ between all runs (label_is_of_runs), and the names and units of its totals.
 *
 * A kind is a hash of these, so that runs of a kind can be found by an index, and a kind disappears with its last run.
 */
#ifndef STORE_RUN_KIND_H
#define STORE_RUN_KIND_H

#include "buf.h"
#include "intern.h"
#include <sqlite3.h>

/* `labels` is the text of labels_put, `totals` that of run_totals_put. `spare` is a buffer to work in. */
int64_t run_kind_of(struct str source, struct str labels, struct str totals, struct buf *spare);

/* Gives the connection the SQL function run_kind(source, labels, totals), for files that an older Strobe wrote. Returns
 * SQLite's code. */
int run_kind_add_function(sqlite3 *db);

#endif
