/* xhprof.c: what xhprof, tideways_xhprof and uprofiler return and their user interfaces keep, by PHP's serialize() or as
 * JSON: {"main()": {"ct": 1, "wt": 1234, "mu": …}, "main()==>foo": {…}, …}, times in microseconds.
 *
 *   serialized   a:2:{s:6:"main()";a:2:{s:2:"ct";i:1;s:2:"wt";i:1234;}s:13:"main()==>foo";a:…}
 *   JSON         the same object; also as "profile" of an object that has "meta", as XHGui exports it, whose "url" and
 *                "request_ts_micro" or "SERVER" are taken too where they are there
 *
 * edges.h says how the pairs become a tree. Keys of values that are not known there are passed over; a pair without
 * any known one is none. Numbers may be written as integers or fractions; what cannot be a number is an error.
 */
#include "edges.h"
#include "format.h"
#include "mem.h"
#include <assert.h>
#include <jansson.h>
#include <math.h>
#include <string.h>

#define TEXT_MAX	((size_t)256 << 20)	/* bytes of one such file */
#define NAME_MAX_BYTES	(2u * 65536)		/* two names and the arrow */

/* What one pair has, as far as it is read. */
struct values {
	int64_t value[EDGE_VALUES];
	unsigned set;
};

static void take_value(struct values *v, struct str key, double number)
{
	enum edge_value which = edges_value(key);

	if (which == EDGE_VALUES)
		return;
	v->value[which] = number >= 9.2e18 ? INT64_MAX : number <= -9.2e18 ? INT64_MIN : llround(number);
	v->set |= 1u << which;
}

/* --- PHP's serialize() ---------------------------------------------------------------------------------------- */

struct text {
	const char *start, *p, *end;
};

static int bad(const struct text *t, const char *what, struct err *err)
{
	return err_set(err, -EINVAL, "at byte %zu %s", (size_t)(t->p - t->start), what);
}

static bool take(struct text *t, const char *word)
{
	size_t n = strlen(word);

	if ((size_t)(t->end - t->p) < n || memcmp(t->p, word, n))
		return false;
	t->p += n;
	return true;
}

/* Digits up to the character `until`, which is taken too. */
static bool take_size(struct text *t, char until, size_t *ret)
{
	size_t n = 0;
	const char *p = t->p;

	while (p < t->end && *p >= '0' && *p <= '9' && n < SIZE_MAX / 100)
		n = n * 10 + (size_t)(*p++ - '0');
	if (p == t->p || p == t->end || *p != until)
		return false;
	t->p = p + 1;
	*ret = n;
	return true;
}

/* s:6:"main()"; */
static bool take_string(struct text *t, struct str *ret)
{
	size_t n;

	if (!take(t, "s:") || !take_size(t, ':', &n) || !take(t, "\"") || n > NAME_MAX_BYTES || n > (size_t)(t->end - t->p))
		return false;
	*ret = (struct str){ t->p, n };
	t->p += n;
	return take(t, "\";");
}

/* i:-5; or d:1.5E+25; */
static bool take_number(struct text *t, double *ret)
{
	char digits[64], *end;
	size_t n = 0;

	if (!take(t, "i:") && !take(t, "d:"))
		return false;
	while (t->p < t->end && *t->p != ';' && n < sizeof(digits) - 1)
		digits[n++] = *t->p++;
	digits[n] = 0;
	*ret = strtod(digits, &end);
	return n && !*end && !isnan(*ret) && take(t, ";");
}

/* The values of one pair: a:2:{s:2:"ct";i:1;…} */
static int read_values(struct text *t, struct values *v, struct err *err)
{
	size_t count;

	if (!take(t, "a:") || !take_size(t, ':', &count) || !take(t, "{"))
		return bad(t, "an array of values was expected, such as ct and wt", err);
	*v = (struct values){ 0 };
	for (size_t i = 0; i < count; i++) {
		struct str key;
		double number;

		if (!take_string(t, &key))
			return bad(t, "the name of a value was expected", err);
		if (!take_number(t, &number))
			return bad(t, "a number was expected", err);
		take_value(v, key, number);
	}
	return take(t, "}") ? 0 : bad(t, "the end of an array was expected", err);
}

static int too_many(struct err *err)
{
	return err_set(err, -E2BIG, "it has more than %u pairs of caller and callee", EDGES_MAX);
}

static int read_serialized(struct edges *e, const char *bytes, size_t n, struct err *err)
{
	struct text t = { bytes, bytes, bytes + n };
	size_t count;

	if (!take(&t, "a:") || !take_size(&t, ':', &count) || !take(&t, "{"))
		return bad(&t, "a serialized array was expected", err);
	for (size_t i = 0; i < count; i++) {
		struct values v;
		struct str pair;
		int r;

		if (!take_string(&t, &pair))
			return bad(&t, "a name was expected, such as main()==>foo", err);
		r = read_values(&t, &v, err);
		if (r < 0)
			return r;
		if (v.set && edges_add(e, pair, v.value, v.set) < 0)
			return too_many(err);
	}
	if (!take(&t, "}"))
		return bad(&t, "the end of the array was expected", err);
	while (t.p < t.end && strchr("\r\n\t ", *t.p))
		t.p++;
	return t.p == t.end ? 0 : bad(&t, "something follows the array", err);
}

/* --- JSON ----------------------------------------------------------------------------------------------------- */

static int read_pairs(struct edges *e, json_t *object, struct err *err)
{
	const char *pair, *key;
	json_t *of_pair, *number;

	json_object_foreach(object, pair, of_pair) {
		struct values v = { 0 };

		if (!json_is_object(of_pair))
			return err_set(err, -EINVAL, "'%.80s' has no values such as ct and wt", pair);
		json_object_foreach(of_pair, key, number) {
			if (!json_is_number(number))
				return err_set(err, -EINVAL, "'%.80s' of '%.80s' is no number", key, pair);
			take_value(&v, (struct str){ key, strlen(key) }, json_number_value(number));
		}
		if (v.set && edges_add(e, (struct str){ pair, strlen(pair) }, v.value, v.set) < 0)
			return too_many(err);
	}
	return 0;
}

static void json_decrefp_(json_t **j)
{
	json_decref(*j);
}

/* What XHGui says of the request. */
static void read_meta(struct profile *p, json_t *meta)
{
	const char *url = json_string_value(json_object_get(meta, "url"));
	json_t *at = json_object_get(json_object_get(meta, "request_ts_micro"), "sec");
	json_t *micro = json_object_get(json_object_get(meta, "request_ts_micro"), "usec");
	double seconds = json_number_value(at);

	if (url && *url && strlen(url) <= 1024)
		labels_set(&p->labels, "url", 3, url, strlen(url));
	if (seconds > 0 && seconds < 9e9)
		p->start_ns = p->end_ns = (int64_t)seconds * 1000000000 + (int64_t)json_number_value(micro) % 1000000 * 1000;
}

/* Jansson takes no NUL in a key, and the names of PHP's anonymous classes have one: it becomes its symbol, U+2400. */
static char *without_nul(const char *bytes, size_t n)
{
	char *copy, *p;

	if (!memmem(bytes, n, "\\u0000", 6))
		return NULL;
	copy = p = xstrndup(bytes, n);
	while ((p = memchr(p, '\\', (size_t)(copy + n - p)))) {
		if (copy + n - p >= 6 && !memcmp(p, "\\u0000", 6))
			memcpy(p, "\\u2400", 6);
		p += copy + n - p > 1 ? 2 : 1;		/* an escaped backslash begins nothing */
	}
	return copy;
}

static int read_json(struct edges *e, struct profile *p, const char *bytes, size_t n, struct err *err)
{
	json_error_t why;
	_cleanup_(freep) char *copy = without_nul(bytes, n);
	_cleanup_(json_decrefp_) json_t *all = json_loadb(copy ? copy : bytes, n, JSON_ALLOW_NUL, &why);
	json_t *profile = json_object_get(all, "profile");
	int r;

	if (!all)
		return err_set(err, -EINVAL, "line %d: %.200s", why.line, why.text);
	if (!json_is_object(profile))
		return read_pairs(e, all, err);
	r = read_pairs(e, profile, err);
	if (r >= 0)
		read_meta(p, json_object_get(all, "meta"));
	return r;
}

/* --- Both ----------------------------------------------------------------------------------------------------- */

static const char *skip_space(const char *p, const char *end)
{
	while (p < end && strchr("\r\n\t ", *p) && *p)
		p++;
	return p;
}

/* Both begin with a name, and soon after has to stand what xhprof counts. */
static int xhprof_sniff(const char *bytes, size_t n)
{
	const char *p = skip_space(bytes, bytes + n);
	size_t left = n - (size_t)(p - bytes), look = left < 4096 || *bytes != 'a' ? left : 4096;
	bool has_values;

	if (left < 8)
		return 0;
	has_values = memmem(p, look, "\"ct\"", 4) || memmem(p, look, "\"wt\"", 4);
	if (!memcmp(p, "a:", 2) && p[2] >= '0' && p[2] <= '9')
		return has_values ? 95 : memmem(p, look, "main()", 6) ? 60 : 0;
	if (*p == '{')
		return !has_values ? 0 : memmem(p, left, "main()", 6) || memmem(p, left, "==>", 3) ? 90 : 0;
	return 0;
}

static int xhprof_read(struct profile *p, struct input *in, const struct format_options *o, struct err *err)
{
	struct profile *one;
	struct edges *e;
	const char *start;
	struct str all;
	size_t n;
	int r = format_whole(in, TEXT_MAX, &all, err);

	(void)o;
	if (r < 0)
		return r;
	start = skip_space(all.p, all.p + all.n);
	n = all.n - (size_t)(start - all.p);
	e = edges_new();
	one = profile_new();
	r = n && *start == '{' ? read_json(e, one, start, n, err) : read_serialized(e, start, n, err);
	if (r >= 0 && edges_count(e) == 0)
		r = err_set(err, -EINVAL, "there is no pair of caller and callee in it");
	if (r >= 0 && edges_to_profile(e, one) < 0)
		r = err_set(err, -E2BIG, "it brings more than %u value columns together", PROFILE_COLUMNS);
	if (r >= 0)
		profile_merge(p, one);
	profile_free(one);
	edges_free(e);
	return r;
}

const struct format format_xhprof = { "xhprof", "xhprof uprofiler json", xhprof_sniff, xhprof_read, NULL };
