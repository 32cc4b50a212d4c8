/* data.h: common to all tables: rows as JSON and CSV, and the last lines. */
#ifndef REPORT_DATA_H
#define REPORT_DATA_H

#include "csv.h"
#include "json.h"
#include "report.h"

/* The rows, at most o->limit of them, in the format of o->json or o->csv. With o->all_columns, or of a wide table, all
 * columns; else the one. */
void report_functions_data(const struct profile *p, const struct report_options *o, const struct wide_row *rows,
			   size_t count, struct buf *out);

/* The columns that are shown: all of a trace in their order, or the one. Returns how many. */
size_t report_data_columns(const struct profile *p, const struct report_options *o, uint32_t ret[PROFILE_COLUMNS]);

void report_put_place_json(struct json *j, const struct profile *p, uint32_t frame);
/* A value of a column: a number, with decimals where the column has fractions of counts. */
void report_put_value_json(struct json *j, const struct profile *p, uint32_t column, int64_t v);
void report_put_value_csv(struct csv *c, const struct profile *p, uint32_t column, int64_t v);
const char *report_unit(const struct profile *p, uint32_t column);	/* "count" also for such fractions */

/* For a profile with edges, whether a value is a limit; nothing for others. */
void report_put_at_most_json(struct json *j, const struct profile *p, const char *key, bool at_most);
void report_put_at_most_csv(struct csv *c, const struct profile *p, bool at_most);

/* A line that says so, and "estimated": true in JSON, if the table was made from an estimated tree. */
void report_put_estimated(struct buf *out, const struct profile *p);
void report_put_estimated_json(struct json *j, const struct profile *p);

void report_put_place_csv(struct csv *c, const struct profile *p, uint32_t frame);

/* "[12 more functions]" and "[all 42 functions]", each with its newline. */
void report_put_rest(struct buf *out, enum report_by by, size_t count);
void report_put_all(struct buf *out, enum report_by by, size_t count);

#endif
