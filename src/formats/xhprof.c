/* xhprof.c: reads profiles of xhprof, tideways_xhprof and uprofiler, in PHP's serialize() format or JSON:
 * {"main()": {"ct": 1, "wt": 1234, "mu": …}, "main()==>foo": {…}, …}, times in microseconds.
 *
 *   serialized   a:2:{s:6:"main()";a:2:{s:2:"ct";i:1;s:2:"wt";i:1234;}s:13:"main()==>foo";a:…}
 *   JSON         the same object; also as "profile" of an object that has "meta", as XHGui exports it, whose "url" and
 *                "request_ts_micro" or "SERVER" are used, too, if present
 *
 *   samples      {"1380818838.141923": "main()==>foo==>bar", …}: what xhprof_sample_disable() returns, the time of
 *                each sample in seconds and its stack; in either format
 *
 * edge_list.h says how the pairs become a profile. Unknown keys are ignored, and so is a pair without any known one.
 * Numbers may be integers or fractions; anything else, numbers that do not fit into 64 bits, and negative counts are
 * errors. Negative times and memory are kept: clocks may be set back, and memory is freed. If there are "samples", as
 * xhprof_write.c writes for sampling profiles, ct has the same value and does not count calls.
 *
 * Caps: 256 MB of text, EDGE_LIST_MAX pairs, 128 KB of a pair's name, 4 MB of a sample's stack.
 */
#include "edge_list.h"
#include "format.h"
#include "json_read.h"
#include "mem.h"
#include "text.h"
#include "xhprof_write.h"
#include <assert.h>
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <string.h>

#define TEXT_MAX	((size_t)256 << 20)	/* limit of a file */
#define NAME_MAX_BYTES	(2u * 65536)		/* two names and the arrow */
#define STACK_MAX	(4u << 20)		/* limit of one sample */
#define MILLION		1000000

/* The input being read: pairs, or samples. */
struct xhprof {
	struct edge_list *edges;
	struct profile *profile;
	size_t samples;
	int64_t units[EDGE_VALUES];	/* the profile's units per unit of the input */
	bool has_parts;			/* fractional samples were found */
};

/* The values of one pair read so far. */
struct values {
	int64_t value[EDGE_VALUES];
	unsigned set;
};

/* A number as written: an integer, or a fraction, as in averages. */
struct number {
	bool is_real, is_too_large;
	int64_t whole;
	double real;
};

/* Multiplies `n` by `unit`; returns whether the result fits. */
static bool scale(const struct number *n, int64_t unit, int64_t *ret)
{
	double real = n->real * (double)unit;

	if (!n->is_real)
		return !n->is_too_large && !__builtin_mul_overflow(n->whole, unit, ret);
	if (!(fabs(real) < 0x1p63))
		return false;
	*ret = llround(real);
	return true;
}

static int shown(struct str s)
{
	return (int)text_cut(s, 80);
}

static int take_value(struct xhprof *x, struct values *v, struct str pair, struct str key, const struct number *n, struct err *err)
{
	enum edge_value which = edge_list_value(key);

	if (which == EDGE_VALUES)
		return 0;
	if (!scale(n, x->units[which], &v->value[which]))
		return err_set(err, -EINVAL, "'%.*s' of '%.*s' does not fit into 64 bits", shown(key), key.p, shown(pair), pair.p);
	if (v->value[which] < 0 && !strcmp(edge_list_xhprof[which].unit, "count"))
		return err_set(err, -EINVAL, "'%.*s' of '%.*s' is negative, but it is a count", shown(key), key.p, shown(pair),
			       pair.p);
	v->set |= 1u << which;
	x->has_parts |= which == EDGE_SAMPLES && n->is_real && n->real != floor(n->real);
	return 0;
}

static int too_many(struct err *err)
{
	return err_set(err, -E2BIG, "it has more than %u pairs of caller and callee", EDGE_LIST_MAX);
}

static int add_pair(struct xhprof *x, struct str pair, struct values *v, struct err *err)
{
	if (v->set & 1u << EDGE_SAMPLES) {
		v->set &= ~(1u << EDGE_CALLS);
		v->value[EDGE_CALLS] = 0;
	}
	return v->set && edge_list_add(x->edges, pair, v->value, v->set) < 0 ? too_many(err) : 0;
}

/* The key is the time in seconds; other keys are ignored. */
static void cover(struct profile *p, struct str key)
{
	char text[32], *end;
	int64_t at;
	double seconds;

	if (key.n >= sizeof(text))
		return;
	memcpy(text, key.p, key.n);
	text[key.n] = 0;
	seconds = strtod(text, &end);
	if (*end || !(seconds > 0 && seconds < 9e9))
		return;
	at = llround(seconds * 1e6) * 1000;
	profile_cover(p, at, at);
}

/* Adds "main()==>foo==>bar". */
static int add_sample(struct xhprof *x, struct str key, struct str stack, struct err *err)
{
	uint32_t node = PROFILE_ROOT, column = profile_column(x->profile, "samples", "count");

	if (stack.n > STACK_MAX)
		return err_set(err, -E2BIG, "a stack exceeds the limit of %u bytes", STACK_MAX);
	for (;;) {
		const char *arrow = stack.n ? memmem(stack.p, stack.n, "==>", 3) : NULL;
		struct str name = { stack.p, arrow ? (size_t)(arrow - stack.p) : stack.n };

		node = profile_child(x->profile, node, profile_frame(x->profile, profile_given_name(name), (struct str){ "", 0 }, 0));
		if (!arrow)
			break;
		stack = (struct str){ arrow + 3, stack.n - name.n - 3 };
	}
	profile_add(x->profile, node, column, 1);
	cover(x->profile, key);
	x->samples++;
	return 0;
}

static const char *skip_space(const char *p, const char *end)
{
	while (p < end && strchr("\r\n\t ", *p) && *p)
		p++;
	return p;
}

/* --- PHP's serialize() --- */

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

/* Reads digits up to and including the character `until`. */
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
static bool take_string(struct text *t, size_t max, struct str *ret)
{
	size_t n;

	if (!take(t, "s:") || !take_size(t, ':', &n) || !take(t, "\"") || n > max || n > (size_t)(t->end - t->p))
		return false;
	*ret = (struct str){ t->p, n };
	t->p += n;
	return take(t, "\";");
}

/* i:-5; or d:1.5E+25; */
static bool take_number(struct text *t, struct number *ret)
{
	char digits[64], *end;
	bool whole = take(t, "i:");
	size_t n = 0;

	if (!whole && !take(t, "d:"))
		return false;
	while (t->p < t->end && *t->p != ';' && n < sizeof(digits) - 1)
		digits[n++] = *t->p++;
	digits[n] = 0;
	*ret = (struct number){ .is_real = !whole, .real = strtod(digits, &end) };
	if (!n || *end || isnan(ret->real))
		return false;
	errno = 0;
	ret->whole = whole ? strtoll(digits, &end, 10) : 0;
	ret->is_too_large = errno == ERANGE;
	ret->is_real |= *end;
	return take(t, ";");
}

/* The values of one pair: a:2:{s:2:"ct";i:1;…} */
static int read_values(struct text *t, struct xhprof *x, struct str pair, struct values *v, struct err *err)
{
	size_t count;
	int r;

	if (!take(t, "a:") || !take_size(t, ':', &count) || !take(t, "{"))
		return bad(t, "an array of values was expected, such as ct and wt", err);
	*v = (struct values){ 0 };
	for (size_t i = 0; i < count; i++) {
		struct str key;
		struct number number;

		if (!take_string(t, NAME_MAX_BYTES, &key))
			return bad(t, "the name of a value was expected", err);
		if (!take_number(t, &number))
			return bad(t, "a number was expected", err);
		if ((r = take_value(x, v, pair, key, &number, err)) < 0)
			return r;
	}
	return take(t, "}") ? 0 : bad(t, "the end of an array was expected", err);
}

static int read_sample(struct text *t, struct xhprof *x, struct str key, struct err *err)
{
	struct str stack;

	if (!take_string(t, STACK_MAX, &stack))
		return bad(t, "a stack was expected, such as main()==>foo==>bar", err);
	return add_sample(x, key, stack, err);
}

static int read_pair(struct text *t, struct xhprof *x, struct str pair, struct err *err)
{
	struct values v;
	int r = read_values(t, x, pair, &v, err);

	return r < 0 ? r : add_pair(x, pair, &v, err);
}

static int read_serialized(struct xhprof *x, const char *bytes, size_t n, struct err *err)
{
	struct text t = { bytes, bytes, bytes + n };
	size_t count;

	if (!take(&t, "a:") || !take_size(&t, ':', &count) || !take(&t, "{"))
		return bad(&t, "a serialized array was expected", err);
	for (size_t i = 0; i < count; i++) {
		struct str key;
		int r;

		if (!take_string(&t, NAME_MAX_BYTES, &key))
			return bad(&t, "a name was expected, such as main()==>foo", err);
		r = t.p < t.end && *t.p == 's' ? read_sample(&t, x, key, err) : read_pair(&t, x, key, err);
		if (r < 0)
			return r;
	}
	if (!take(&t, "}"))
		return bad(&t, "the end of the array was expected", err);
	while (t.p < t.end && strchr("\r\n\t ", *t.p))
		t.p++;
	return t.p == t.end ? 0 : bad(&t, "something follows the array", err);
}

/* --- JSON --- */

/* mongoexport writes numbers that do not fit into a double as {"$numberLong": "5"}. */
static bool read_long_number(const char *text, struct number *ret)
{
	char *end;

	errno = 0;
	*ret = (struct number){ .whole = strtoll(text, &end, 10) };
	ret->is_too_large = errno == ERANGE;
	return end != text && !*end;
}

static bool read_json_number(json_t *value, struct number *ret)
{
	const char *long_number = json_string_value(json_object_get(value, "$numberLong"));

	if (long_number)
		return read_long_number(long_number, ret);
	*ret = (struct number){ .is_real = json_is_real(value), .whole = (int64_t)json_integer_value(value), .real = json_real_value(value) };
	return json_is_number(value);
}

static int read_json_pair(struct xhprof *x, const char *pair, json_t *of_pair, struct err *err)
{
	struct str name = { pair, strlen(pair) };
	struct values v = { 0 };
	const char *key;
	json_t *value;

	if (!json_is_object(of_pair))
		return err_set(err, -EINVAL, "'%.80s' has no values such as ct and wt", pair);
	json_object_foreach(of_pair, key, value) {
		struct number n;
		int r;

		if (!read_json_number(value, &n))
			return err_set(err, -EINVAL, "'%.80s' of '%.80s' is not a number", key, pair);
		if ((r = take_value(x, &v, name, (struct str){ key, strlen(key) }, &n, err)) < 0)
			return r;
	}
	return add_pair(x, name, &v, err);
}

static int read_pairs(struct xhprof *x, json_t *object, struct err *err)
{
	const char *key;
	json_t *value;

	json_object_foreach(object, key, value) {
		struct str stack = { json_string_value(value), json_string_length(value) };
		int r = stack.p ? add_sample(x, (struct str){ key, strlen(key) }, stack, err) :
				  read_json_pair(x, key, value, err);

		if (r < 0)
			return r;
	}
	return 0;
}

/* Adds XHGui's data about the request. */
static void read_meta(struct profile *p, json_t *meta, bool is_first)
{
	const char *url = json_string_value(json_object_get(meta, "url"));
	json_t *at = json_object_get(json_object_get(meta, "request_ts_micro"), "sec");
	json_t *micro = json_object_get(json_object_get(meta, "request_ts_micro"), "usec");
	double seconds = json_number_value(at);

	struct labels labels = { 0 };
	int64_t ns = (int64_t)json_number_value(micro) % 1000000 * 1000;

	if (url && *url && strlen(url) <= 1024)
		labels_set(&labels, "url", 3, url, strlen(url));
	if (is_first)
		labels_copy(&p->labels, &labels);
	else
		labels_keep_common(&p->labels, &labels);
	labels_done(&labels);
	if (seconds > 0 && seconds < 9e9)
		profile_cover(p, (int64_t)seconds * 1000000000 + ns, (int64_t)seconds * 1000000000 + ns);
}

/* Jansson rejects NULs in keys, but names of PHP's anonymous classes contain one: it is replaced by its symbol,
 * U+2400. */
static char *without_nul(const char *bytes, size_t n)
{
	char *copy, *p;

	if (!memmem(bytes, n, "\\u0000", 6))
		return NULL;
	copy = p = xstrndup(bytes, n);
	while ((p = memchr(p, '\\', (size_t)(copy + n - p)))) {
		if (copy + n - p >= 6 && !memcmp(p, "\\u0000", 6))
			memcpy(p, "\\u2400", 6);
		p += copy + n - p > 1 ? 2 : 1;		/* skips an escaped backslash */
	}
	return copy;
}

static int read_object(struct xhprof *x, json_t *all, bool is_first, struct err *err)
{
	json_t *profile = json_object_get(all, "profile");
	int r;

	if (!json_is_object(profile))
		return read_pairs(x, all, err);
	r = read_pairs(x, profile, err);
	if (r >= 0)
		read_meta(x->profile, json_object_get(all, "meta"), is_first);
	return r;
}

static unsigned lines_in(const char *p, const char *end)
{
	unsigned n = 0;

	while ((p = memchr(p, '\n', (size_t)(end - p)))) {
		n++;
		p++;
	}
	return n;
}

/* XHGui exports one request per line. */
static int read_json(struct xhprof *x, const char *bytes, size_t n, struct err *err)
{
	_cleanup_(freep) char *copy = without_nul(bytes, n);
	const char *start = copy ? copy : bytes, *end = start + n;
	unsigned line = 0;
	int r = 0;

	for (const char *p = start, *next; p < end && r >= 0; p = next) {
		json_error_t why;
		_cleanup_(json_decrefp_) json_t *one = json_loadb(p, (size_t)(end - p), JSON_ALLOW_NUL |
								  JSON_DISABLE_EOF_CHECK, &why);

		if (!one)
			return err_set(err, -EINVAL, "line %u: %.200s", line + (unsigned)why.line, why.text);
		r = read_object(x, one, p == start, err);
		next = skip_space(p + why.position, end);
		line += lines_in(p, next);
	}
	return r;
}

/* --- Recognizing the format --- */

/* {"1380818838.141923":"main()==> */
static bool is_json_sample(const char *p, const char *end)
{
	const char *key = skip_space(p + 1, end), *value;
	size_t n;

	if (key == end || *key++ != '"')
		return false;
	for (n = 0; key + n < end && n < 24 && ((key[n] >= '0' && key[n] <= '9') || key[n] == '.');)
		n++;
	if (!n || key + n == end || key[n] != '"')
		return false;
	value = skip_space(key + n + 1, end);
	if (value == end || *value++ != ':')
		return false;
	value = skip_space(value, end);
	return end - value > 7 && !memcmp(value, "\"main()", 7);
}

/* Both formats begin with a name, soon followed by one of xhprof's keys. */
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
	if (*p == '{' && is_json_sample(p, bytes + n))
		return 90;
	if (*p == '{')
		return !has_values ? 0 : memmem(p, left, "main()", 6) || memmem(p, left, "==>", 3) ? 90 : 0;
	return 0;
}

static int add_all(struct xhprof *x, struct profile *p, struct err *err)
{
	static const struct edge_list_meaning meaning = { .level_mark = '@', .levels = EDGE_LEVELS_ALL };

	if (!edge_list_count(x->edges) && !x->samples)
		return err_set(err, -EINVAL, "it has no pairs of caller and callee");
	if (edge_list_count(x->edges) && edge_list_to_profile(x->edges, &meaning, x->profile) < 0)
		return err_set(err, -E2BIG, "it would make more than %u value columns in all", PROFILE_COLUMNS);
	profile_merge(p, x->profile);
	return 0;
}

static int read_all(struct xhprof *x, const char *bytes, size_t n, struct profile *p, struct err *err)
{
	int r = n && *bytes == '{' ? read_json(x, bytes, n, err) : read_serialized(x, bytes, n, err);

	return r < 0 || (x->has_parts && x->units[EDGE_SAMPLES] == 1) ? r : add_all(x, p, err);
}

/* Values are read in the units of the profile. Samples are counted as integers, or, starting over, in millionths once
 * a fraction is found. */
static int read_in(int64_t samples, const char *bytes, size_t n, struct profile *p, bool *ret_has_parts, struct err *err)
{
	struct edge_list_column columns[EDGE_VALUES];
	struct xhprof x = { .profile = profile_new() };
	int r;

	for (unsigned i = 0; i < EDGE_VALUES; i++) {
		columns[i] = edge_list_xhprof[i];
		x.units[i] = i == EDGE_SAMPLES ? samples : columns[i].scale;
		columns[i].scale = 1;
	}
	if (samples > 1)
		columns[EDGE_SAMPLES].unit = PROFILE_MILLIONTHS;
	x.edges = edge_list_new(columns, EDGE_VALUES);
	r = read_all(&x, bytes, n, p, err);
	*ret_has_parts = x.has_parts;
	profile_free(x.profile);
	edge_list_free(x.edges);
	return r;
}

static int xhprof_read(struct profile *p, struct input *in, const struct format_options *o, struct err *err)
{
	const char *start;
	bool has_parts;
	struct str all;
	size_t n;
	int r = format_whole(in, TEXT_MAX, &all, err);

	(void)o;
	if (r < 0)
		return r;
	start = skip_space(all.p, all.p + all.n);
	n = all.n - (size_t)(start - all.p);
	r = read_in(1, start, n, p, &has_parts, err);
	return r < 0 || !has_parts ? r : read_in(MILLION, start, n, p, &has_parts, err);
}

const struct format format_xhprof = {
	"xhprof",
	"xhprof uprofiler",
	xhprof_sniff,
	xhprof_read,
	xhprof_write_serialized,
	.about = "arrays of xhprof and uprofiler, serialized by PHP",
	.has_edges = true,
};

/* Reading is the same: the content determines the format. */
const struct format format_xhprof_json = { "xhprof-json", "xhprof.json", NULL, xhprof_read, xhprof_write_json,
	.about = "the same as JSON", .has_edges = true };
