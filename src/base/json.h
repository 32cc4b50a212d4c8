/* json.h: writes JSON. Jansson is used for reading.
 *
 * Strings may be any bytes: invalid UTF-8 becomes U+FFFD, and < > & and U+2028/9 are escaped so that the text is safe
 * inside a <script>. The writer adds commas:
 *	json_open_object(&j); json_key(&j, "samples"); json_i64(&j, 12); json_end(&j);
 */
#ifndef BASE_JSON_H
#define BASE_JSON_H

#include "buf.h"
#include "intern.h"

#define JSON_DEPTH 32

struct json {
	struct buf *out;
	unsigned depth;
	bool after_key, comma[JSON_DEPTH], array[JSON_DEPTH];
};

void json_init(struct json *j, struct buf *out);
void json_open_object(struct json *j);
void json_open_array(struct json *j);
void json_end(struct json *j);				/* closes the innermost object or array */
void json_key(struct json *j, const char *key);
void json_str(struct json *j, const char *text);	/* NULL becomes null */
void json_bytes(struct json *j, struct str s);
void json_i64(struct json *j, int64_t v);
void json_u64(struct json *j, uint64_t v);
void json_double(struct json *j, double v);		/* NaN and infinity become null */
void json_bool(struct json *j, bool v);

#endif
