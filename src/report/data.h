/* data.h: shared by all tables: rows as JSON and CSV, and the summary lines. */
#ifndef REPORT_DATA_H
#define REPORT_DATA_H

#include "csv.h"
#include "json.h"
#include "report.h"

/* Appends at most o->limit rows in the format of o->json or o->csv: all columns with o->all_columns or in a wide
 * table, otherwise the selected one. */
void report_functions_data(const struct profile *p, const struct report_options *o, const struct wide_row *rows,
			   size_t count, struct buf *out);

/* Returns the number of columns shown: all of a trace in their order, or the selected one. */
size_t report_data_columns(const struct profile *p, const struct report_options *o, uint32_t ret[PROFILE_COLUMNS]);

void report_put_place_json(struct json *j, const struct profile *p, uint32_t frame);
/* Appends a value as a number, with decimals if the column has fractions of counts. */
void report_put_value_json(struct json *j, const struct profile *p, uint32_t column, int64_t v);
void report_put_value_csv(struct csv *c, const struct profile *p, uint32_t column, int64_t v);
const char *report_unit(const struct profile *p, uint32_t column);	/* the unit, "count" for fractions, too */

/* Appends whether a value is a limit, if the profile has edges. */
void report_put_at_most_json(struct json *j, const struct profile *p, const char *key, bool at_most);
void report_put_at_most_csv(struct csv *c, const struct profile *p, bool at_most);

/* Appends the note that the table was made from an estimated tree, if so; in JSON "estimated": true. */
void report_put_estimated(struct buf *out, const struct profile *p);
void report_put_estimated_json(struct json *j, const struct profile *p);

void report_put_place_csv(struct csv *c, const struct profile *p, uint32_t frame);

/* "[12 more functions]" and "[all 42 functions]", each with its newline. */
void report_put_rest(struct buf *out, enum report_by by, size_t count);
void report_put_all(struct buf *out, enum report_by by, size_t count);

#endif
