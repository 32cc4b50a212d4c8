/* pprof.h: the fields of profile.proto that are read or written.
 *
 *	message Profile, the whole file, mostly compressed with gzip		field
 *	  sample_type	ValueType { type 1, unit 2 }			1, repeated: one per value
 *	  sample	Sample { location_id 1, value 2, label 3 }	2, the leaf's location first
 *	  mapping	Mapping { id 1, filename 5, has_functions 7, has_filenames 8, has_line_numbers 9 }	3
 *	  location	Location { id 1, mapping_id 2, address 3, line 4 }	4
 *			line is Line { function_id 1, line 2 }, the innermost of inlined functions first
 *	  function	Function { id 1, name 2, system_name 3, filename 4, start_line 5 }	5
 *	  string_table	string						6, the first is ""; referred to by index
 *	  time_nanos, duration_nanos	int64				9, 10
 *	  period_type, period		ValueType, int64		11, 12
 *	  comment	index of a string				13
 *	  default_sample_type	index of a string			14
 *	Label { key 1, str 2, num 3 }
 */
#ifndef FORMATS_PPROF_H
#define FORMATS_PPROF_H

#include "err.h"
#include "line_places.h"
#include "profile.h"

enum { PPROF_SAMPLE_TYPE = 1, PPROF_SAMPLE, PPROF_MAPPING, PPROF_LOCATION, PPROF_FUNCTION, PPROF_STRING,
	PPROF_TIME = 9, PPROF_DURATION, PPROF_PERIOD_TYPE, PPROF_PERIOD, PPROF_COMMENT, PPROF_DEFAULT_TYPE };
enum { PPROF_TYPE = 1, PPROF_UNIT };
enum { PPROF_SAMPLE_LOCATION = 1, PPROF_SAMPLE_VALUE, PPROF_SAMPLE_LABEL };
enum { PPROF_LABEL_KEY = 1, PPROF_LABEL_STR };
enum { PPROF_MAPPING_ID = 1, PPROF_MAPPING_FILE = 5, PPROF_MAPPING_HAS = 7 };
enum { PPROF_LOCATION_ID = 1, PPROF_LOCATION_MAPPING, PPROF_LOCATION_ADDRESS, PPROF_LOCATION_LINE };
enum { PPROF_LINE_FUNCTION = 1, PPROF_LINE_LINE };
enum { PPROF_FUNCTION_ID = 1, PPROF_FUNCTION_NAME, PPROF_FUNCTION_SYSTEM_NAME, PPROF_FUNCTION_FILE,
       PPROF_FUNCTION_START };

/* Returns the column and unit for values of a type, and their multiplier: times become nanoseconds, sizes bytes. */
int64_t pprof_column(struct str type, struct str type_unit, char name[64], char unit[64]);

/* A sample as in the file, and the facts about the file. */
struct pprof_label {
	struct str key, value;			/* only text labels */
};

struct pprof_sample {
	const struct profile *frames;		/* names, files and lines of the stack; and the columns of the values */
	const struct line_place *stack;		/* the leaf first */
	size_t depth;
	bool has_lines;				/* lines of places are executed lines */
	const int64_t *values;			/* one per column of `frames`, in its unit */
	const struct pprof_label *labels;
	size_t label_count;
	struct str period_type;			/* "cpu" */
	int64_t period_ns;			/* 0 if it is not a time */
	int64_t time_ns, duration_ns;		/* 0 if missing in the file */
};

/* Passes on each sample of an uncompressed file, with its own labels, until `take` returns less than 0. Here, invalid
 * string indices are refused, and so are stacks of more than `depth` frames. */
int pprof_each(const void *bytes, size_t n, size_t depth, int (*take)(void *data, const struct pprof_sample *s, struct err *err),
	       void *data, struct err *err);

/* Writes without compression; format_pprof's `write` compresses with gzip, like pprof. */
int pprof_write_plain(const struct profile *p, uint32_t column, struct buf *out, struct err *err);

/* Writes all columns, compressed with gzip, for receivers that expect other names: time is "cpu", "wall" or "off_cpu"
 * (pprof_type), the period's type is `period_type`, and the caller has to send the labels. */
int pprof_write_pushed(const struct profile *p, const char *period_type, struct buf *out, struct err *err);
const char *pprof_type(const char *column);

int pprof_write(const struct profile *p, uint32_t column, struct buf *out, struct err *err);

#endif
