/* json_read.c: reads JSON with Jansson; explains or repairs input that Jansson rejects. */
#include "json_read.h"

#include "format.h"
#include "mem.h"
#include "notes.h"
#include "strobe_wire.h"

#include <math.h>

void json_decrefp_(json_t **j)
{
	json_decref(*j);
}

/* Parses up to the last complete object: "[{…}, {…}, {…" becomes "[{…}, {…}]". */
static json_t *read_open_array(struct str all, json_error_t *why)
{
	size_t n = all.n;
	_cleanup_(freep) char *copy = NULL;

	while (n && all.p[n - 1] != '}')
		n--;
	if (!n)
		return NULL;
	copy = xmalloc(n + 1);
	memcpy(copy, all.p, n);
	copy[n] = ']';
	return json_loadb(copy, n + 1, JSON_ALLOW_NUL, why);
}

static bool is_array(struct str all)
{
	size_t i = 0;

	while (i < all.n && (all.p[i] == ' ' || all.p[i] == '\n' || all.p[i] == '\r' || all.p[i] == '\t'))
		i++;
	return i < all.n && all.p[i] == '[';
}

json_t *json_read(struct input *in, bool may_be_open, struct err *err)
{
	json_error_t why, again;
	json_t *j = NULL;
	struct str all;

	if (format_whole(in, JSON_TEXT_MAX, &all, err) < 0)
		return NULL;
	if (all.n >= 3 && !memcmp(all.p, "\xef\xbb\xbf", 3))
		all = (struct str){ all.p + 3, all.n - 3 };
	j = json_loadb(all.p, all.n, JSON_ALLOW_NUL, &why);
	if (!j && may_be_open && is_array(all))
		j = read_open_array(all, &again);
	if (!j)
		err_set(err, -EINVAL, "line %d: %.200s", why.line, why.text);
	return j;
}

int64_t json_scaled(json_t *number, int64_t scale, double *carry)
{
	int64_t whole;
	double v, rest;

	if (json_is_integer(number)) {
		if (!__builtin_mul_overflow((int64_t)json_integer_value(number), scale, &whole))
			return whole;
		return json_integer_value(number) < 0 ? INT64_MIN : INT64_MAX;
	}
	v = json_number_value(number) * (double)scale + (carry ? *carry : 0);
	if (!(v > -9.2e18 && v < 9.2e18))
		return v > 0 ? INT64_MAX : v < 0 ? INT64_MIN : 0;
	rest = floor(v + 0.5);
	if (carry)
		*carry = v - rest;
	return (int64_t)rest;
}

struct str json_text(json_t *string)
{
	return json_is_string(string) ? (struct str){ json_string_value(string), json_string_length(string) } :
					(struct str){ "", 0 };
}

uint32_t json_line(json_t *number)
{
	json_int_t line = json_integer_value(number);

	return line > 0 && line < UINT32_MAX ? (uint32_t)line : 0;
}

static void put_number(struct buf *out, const char *key, int64_t v)
{
	buf_printf(out, "\"%s\":", key);
	buf_put_i64(out, v);
	buf_putc(out, ',');
}

void json_put_metadata(struct notes *notes, struct buf *out, const struct profile *p)
{
	buf_putc(out, '{');
	put_number(out, "start_ns", p->start_ns);
	put_number(out, "end_ns", p->end_ns);
	put_number(out, "period_ns", p->period_ns);
	buf_puts(out, "\"labels\":{");
	for (size_t i = 0; i < p->labels.count; i++) {
		const struct label *l = &p->labels.items[i];

		buf_puts(out, i ? "," : "");
		notes_put_json(notes, out, (struct str){ l->key, strlen(l->key) });
		buf_putc(out, ':');
		notes_put_json(notes, out, (struct str){ l->value, strlen(l->value) });
	}
	buf_puts(out, "}}");
}

void json_read_metadata(json_t *facts, struct profile *p)
{
	int64_t start = json_integer_value(json_object_get(facts, "start_ns"));
	int64_t end = json_integer_value(json_object_get(facts, "end_ns"));
	int64_t period = json_integer_value(json_object_get(facts, "period_ns"));
	const char *key;
	json_t *value;

	if (start > 0 && end >= start) {
		p->start_ns = start;
		p->end_ns = end;
	}
	p->period_ns = period > 0 ? period : 0;
	json_object_foreach(json_object_get(facts, "labels"), key, value) {
		struct str text = json_text(value);
		size_t n = strlen(key);

		if (n <= STROBE_WIRE_LABEL_KEY && strobe_wire_is_label_key((const uint8_t *)key, n) &&
		    text.n <= STROBE_WIRE_LABEL_VALUE && p->labels.count < STROBE_WIRE_LABELS)
			labels_set(&p->labels, key, n, text.p, text.n);
	}
}
