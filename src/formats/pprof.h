/* pprof.h: the fields of profile.proto that are read or written.
 *
 *	message Profile, the whole file, mostly within gzip		field
 *	  sample_type	ValueType { type 1, unit 2 }			1, repeated: one per value
 *	  sample	Sample { location_id 1, value 2, label 3 }	2, the leaf's location first
 *	  mapping	Mapping { id 1, filename 5, has_functions 7, has_filenames 8, has_line_numbers 9 }	3
 *	  location	Location { id 1, mapping_id 2, address 3, line 4 }	4
 *			line is Line { function_id 1, line 2 }, the innermost of inlined functions first
 *	  function	Function { id 1, name 2, system_name 3, filename 4, start_line 5 }	5
 *	  string_table	string						6, the first is ""; all else refers to it by index
 *	  time_nanos, duration_nanos	int64				9, 10
 *	  period_type, period		ValueType, int64		11, 12
 *	  comment	index of a string				13
 *	  default_sample_type	index of a string			14
 *	Label { key 1, str 2, num 3 }
 */
#ifndef FORMATS_PPROF_H
#define FORMATS_PPROF_H

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

/* Writes within gzip, as pprof does; the other one without. */
int pprof_write_plain(const struct profile *p, uint32_t column, struct buf *out, struct err *err);
int pprof_write(const struct profile *p, uint32_t column, struct buf *out, struct err *err);

#endif
