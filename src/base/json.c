/* json.c: the JSON writer; it adds the commas and asserts that the output is valid JSON. */
#include "json.h"
#include "text.h"
#include <assert.h>
#include <math.h>
#include <string.h>

void json_init(struct json *j, struct buf *out)
{
	*j = (struct json){ .out = out };
}

static void before_value(struct json *j)
{
	if (j->after_key) {
		j->after_key = false;
		return;
	}
	assert(j->depth == 0 || j->array[j->depth - 1]);
	if (j->depth == 0)
		return;
	if (j->comma[j->depth - 1])
		buf_putc(j->out, ',');
	j->comma[j->depth - 1] = true;
}

static void begin(struct json *j, bool array)
{
	before_value(j);
	assert(j->depth < JSON_DEPTH);
	j->array[j->depth] = array;
	j->comma[j->depth] = false;
	j->depth++;
	buf_putc(j->out, array ? '[' : '{');
}

void json_open_object(struct json *j)
{
	begin(j, false);
}

void json_open_array(struct json *j)
{
	begin(j, true);
}

void json_end(struct json *j)
{
	assert(j->depth > 0 && !j->after_key);
	j->depth--;
	buf_putc(j->out, j->array[j->depth] ? ']' : '}');
}

static void quoted(struct json *j, struct str s)
{
	buf_putc(j->out, '"');
	text_put_json(j->out, s);
	buf_putc(j->out, '"');
}

void json_key(struct json *j, const char *key)
{
	assert(j->depth > 0 && !j->array[j->depth - 1] && !j->after_key);
	if (j->comma[j->depth - 1])
		buf_putc(j->out, ',');
	j->comma[j->depth - 1] = true;
	quoted(j, (struct str){ key, strlen(key) });
	buf_putc(j->out, ':');
	j->after_key = true;
}

void json_str(struct json *j, const char *text)
{
	if (text) {
		json_bytes(j, (struct str){ text, strlen(text) });
	} else {
		before_value(j);
		buf_puts(j->out, "null");
	}
}

void json_bytes(struct json *j, struct str s)
{
	before_value(j);
	quoted(j, s);
}

void json_i64(struct json *j, int64_t v)
{
	before_value(j);
	buf_put_i64(j->out, v);
}

void json_u64(struct json *j, uint64_t v)
{
	before_value(j);
	buf_put_u64(j->out, v);
}

/* Uses the shortest of 15 to 17 digits that parses to the same number. */
void json_double(struct json *j, double v)
{
	char text[40];

	before_value(j);
	if (!isfinite(v)) {
		buf_puts(j->out, "null");
		return;
	}
	for (int precision = 15; precision <= 17; precision++) {
		snprintf(text, sizeof(text), "%.*g", precision, v);
		if (strtod(text, NULL) == v)
			break;
	}
	buf_puts(j->out, text);
}

void json_bool(struct json *j, bool v)
{
	before_value(j);
	buf_puts(j->out, v ? "true" : "false");
}
