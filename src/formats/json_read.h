/* json_read.h: shared by the formats in JSON: reading the text, and numbers that are time.
 *
 * Jansson holds a file as a tree, about twenty times its size, so that the text has a limit.
 */
#ifndef FORMATS_JSON_READ_H
#define FORMATS_JSON_READ_H

#include "err.h"
#include "input.h"
#include "profile.h"

#include <jansson.h>

#define JSON_TEXT_MAX	((size_t)256 << 20)

/* The whole input; the caller drops it with json_decref. With `may_be_open` an array may lack its end, as the traces of
 * programs that were killed do. NULL with a sentence. */
json_t *json_read(struct input *in, bool may_be_open, struct err *err);
void json_decrefp_(json_t **j);

/* `number` × scale as a whole number; the fraction is carried to the next one by *carry (NULL: it is rounded). */
int64_t json_scaled(json_t *number, int64_t scale, double *carry);

struct str json_text(json_t *string);		/* "" for other types */

/* The line of a frame; 0 if invalid. */
uint32_t json_line(json_t *number);

/* Times, period and labels, as an object that speedscope and others ignore; and back. */
struct notes;
void json_put_metadata(struct notes *notes, struct buf *out, const struct profile *p);
void json_read_metadata(json_t *facts, struct profile *p);

#endif
