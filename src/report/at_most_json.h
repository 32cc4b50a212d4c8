/* at_most_json.h: lists the rows whose total is only an upper limit (report.h), in the page's and the API's format. */
#ifndef REPORT_AT_MOST_JSON_H
#define REPORT_AT_MOST_JSON_H

#include "json.h"

#include <stdbool.h>
#include <stddef.h>

/* Appends "at_most" and an array with the index of each row whose bool at `offset` is set; rows are `size` bytes apart. */
static inline void at_most_put_json(struct json *j, const void *rows, size_t count, size_t size, size_t offset)
{
	json_key(j, "at_most");
	json_open_array(j);
	for (size_t i = 0; i < count; i++)
		if (*(const bool *)((const char *)rows + i * size + offset))
			json_u64(j, i);
	json_end(j);
}

#endif
