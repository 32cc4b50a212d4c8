/* json_read.h: shared by JSON formats: reads the text, and numbers with a scale.
 *
 * Jansson's tree takes about twenty times the size of the file, so the text has a limit.
 */
#ifndef FORMATS_JSON_READ_H
#define FORMATS_JSON_READ_H

#include "err.h"
#include "input.h"
#include "profile.h"

#include <jansson.h>

#define JSON_TEXT_MAX	((size_t)256 << 20)

/* Reads the whole input; the caller frees the result with json_decref. With `may_be_open`, the end of an array may be
 * missing, as in traces of programs that were killed. Returns NULL with a sentence on failure. */
json_t *json_read(struct input *in, bool may_be_open, struct err *err);
void json_decrefp_(json_t **j);

/* Returns `number` × scale as an integer; *carry passes the fraction on to the next one (NULL: it is rounded). */
int64_t json_scaled(json_t *number, int64_t scale, double *carry);

struct str json_text(json_t *string);		/* "" for other types */

/* Returns the line of a frame; 0 if invalid. */
uint32_t json_line(json_t *number);

/* Write and read times, period and labels as an object that speedscope and others ignore. */
struct notes;
void json_put_metadata(struct notes *notes, struct buf *out, const struct profile *p);
void json_read_metadata(json_t *facts, struct profile *p);

#endif
