/* push_ingest.c: Pyroscope's /ingest, used by its older agents and the one for Node.js. */
#include "multipart.h"
#include "pushes.h"
#include "push_pprof.h"
#include "push_text.h"
#include "push_time.h"

#include <stdlib.h>
#include <string.h>

#define RATE_MAX	1000000000u	/* Hz */

/* Parameters of the URL. */
struct ingest {
	struct push push;
	struct params params;
	struct labels labels;
	const struct push_type *type;
	int64_t from_ns, until_ns;
	uint32_t rate;
	enum ingest_format { INGEST_FOLDED, INGEST_LINES, INGEST_TRIE, INGEST_TREE, INGEST_PPROF } format;
	bool is_multipart;
	struct str name;		/* __name__ if the form gives it; "": derived from the profile */
};

/* A client whose runtime lacks FormData sends the text "[object FormData]" as its body. */
static bool is_form_by_mistake(struct str body)
{
	return body.n == 17 && !memcmp(body.p, "[object FormData]", 17);
}

static bool read_time(struct ingest *i, const char *key, int64_t *ret)
{
	const char *text = params_get(&i->params, key);

	*ret = i->push.request->now_ns;
	if (!text || !*text || push_time(text, *ret, ret))
		return true;
	push_refuse(&i->push, SOURCE_PUSH_PARAMETERS, 400, "%s: '%.40s' is not a time; give seconds since 1970 or now-10s", key, text);
	return false;
}

static bool read_rate(struct ingest *i)
{
	const char *text = params_get(&i->params, "sampleRate");
	char *end = NULL;
	double rate = text && *text ? strtod(text, &end) : 100;

	if ((end && *end) || !(rate >= 1) || rate > RATE_MAX) {
		push_refuse(&i->push, SOURCE_PUSH_PARAMETERS, 400, "sampleRate: '%.40s' is not a number of samples per second", text);
		return false;
	}
	i->rate = (uint32_t)rate;
	return true;
}

/* All other names mean folded text, as in Pyroscope. */
static bool read_format(struct ingest *i)
{
	static const struct { const char *name; enum ingest_format format; } formats[] = {
		{ "pprof", INGEST_PPROF }, { "lines", INGEST_LINES }, { "trie", INGEST_TRIE }, { "tree", INGEST_TREE },
	};
	const char *format = params_get(&i->params, "format"), *type = i->push.request->content_type;

	i->is_multipart = http_is_type(type, "multipart/form-data");
	i->format = i->is_multipart && (!format || !*format) ? INGEST_PPROF : INGEST_FOLDED;
	if (format && (!strcmp(format, "jfr") || !strcmp(format, "speedscope"))) {
		push_refuse(&i->push, SOURCE_PUSH_UNSUPPORTED, 415, "format=%s is not supported; send pprof, folded text, lines, trie or tree%s",
			    format, *format == 'j' ? ". The agent for Java can send OTLP (PYROSCOPE_FORMAT=otlp)" : "");
		return false;
	}
	for (size_t k = 0; format && k < ARRAY_SIZE(formats); k++)
		if (!strcmp(format, formats[k].name))
			i->format = formats[k].format;
	if (http_is_type(type, "binary/octet-stream+trie"))
		i->format = INGEST_TRIE;
	else if (http_is_type(type, "binary/octet-stream+tree"))
		i->format = INGEST_TREE;
	return true;
}

static bool read_name(struct ingest *i)
{
	const char *name = params_get(&i->params, "name"), *spy = params_get(&i->params, "spyName");
	struct err err = { 0 };

	if (!name || !*name) {
		push_refuse(&i->push, SOURCE_PUSH_PARAMETERS, 400, "name is missing: /ingest?name=app.cpu{key=value}");
		return false;
	}
	if (push_name(&i->push.pushed, (struct str){ name, strlen(name) }, i->format != INGEST_PPROF, &i->labels, &i->type, &err) < 0) {
		push_refuse(&i->push, SOURCE_PUSH_PARAMETERS, 400, "%s", err.text);
		return false;
	}
	if (spy && *spy)
		pushed_label(&i->push.pushed, &i->labels, (struct str){ "pyroscope_spy", 13 }, (struct str){ spy, strlen(spy) });
	return true;
}

static bool read_address(struct ingest *i)
{
	struct err err = { 0 };

	if (params_parse(&i->params, i->push.request->query, &err) < 0) {
		push_refuse(&i->push, SOURCE_PUSH_PARAMETERS, 400, "%s", err.text);
		return false;
	}
	return read_time(i, "from", &i->from_ns) && read_time(i, "until", &i->until_ns) && read_rate(i) && read_format(i) &&
	       read_name(i);
}

/* Profiles of mutexes and of blocking operations are distinguished by the value names in their configuration. */
static void read_config(struct ingest *i, const struct multipart_part *part)
{
	if (memmem(part->bytes, part->size, "mutex_", 6))
		i->name = (struct str){ "mutex", 5 };
	else if (memmem(part->bytes, part->size, "block_", 6))
		i->name = (struct str){ "block", 5 };
}

/* Takes the file from a form. */
static int take_file(struct ingest *i, struct str *ret, struct err *err)
{
	struct multipart_part part;
	struct multipart m;
	int e;

	*ret = i->push.body;
	if (!i->is_multipart)
		return 0;
	*ret = (struct str){ NULL, 0 };
	e = multipart_begin(&m, i->push.body.p, i->push.body.n, err);
	while (e >= 0 && (e = multipart_next(&m, &part, err)) > 0) {
		if (!strcmp(part.name, "prev_profile") && part.size)
			return err_set(err, -EINVAL, "prev_profile is not supported; send a profile of the time "
						     "since the last one");
		if (!strcmp(part.name, "sample_type_config"))
			read_config(i, &part);
		if (!strcmp(part.name, "profile"))
			*ret = (struct str){ part.bytes, part.size };
	}
	if (e >= 0 && !ret->p)
		e = err_set(err, -EINVAL, "the form has no file 'profile'");
	return e;
}

static int read_text(struct ingest *i, struct str file, struct err *err)
{
	bool has_clock = i->type->clock != STROBE_CLOCK_NONE;
	struct pushed_metadata facts = {
		.clock = i->type->clock,
		.period_ns = has_clock ? (int64_t)(RATE_MAX / i->rate) : 0,
		.start_ns = i->from_ns < i->until_ns ? i->from_ns : i->until_ns,
		.end_ns = i->until_ns,
	};
	struct profile *to;
	int e = pushed_series(&i->push.pushed, &i->labels, &facts, &to, err);

	if (e < 0)
		return e;
	switch (i->format) {
	case INGEST_TRIE:
		return push_trie(&i->push.pushed, to, i->type, file, err);
	case INGEST_TREE:
		return push_tree(&i->push.pushed, to, i->type, file, err);
	default:
		return push_folded(&i->push.pushed, to, i->type, file, i->format == INGEST_FOLDED, err);
	}
}

static int read_file(struct ingest *i, struct err *err)
{
	struct push_metadata about = { .labels = &i->labels, .from_ns = i->from_ns, .until_ns = i->until_ns };
	struct str file;
	int e;

	if (is_form_by_mistake(i->push.body))
		return err_set(err, -EINVAL, "the body is the text [object FormData]: the client sent no profile; upgrade @pyroscope/nodejs");
	if ((e = take_file(i, &file, err)) < 0)
		return e;
	about.name = i->name;
	return i->format == INGEST_PPROF ? push_pprof(&i->push.pushed, &about, file.p, file.n, err) : read_text(i, file, err);
}

void push_ingest(struct server_context *s, const struct request *q, struct response *r)
{
	struct ingest i = { .name = { "", 0 } };
	struct err err = { 0 };
	int e;

	labels_init(&i.labels);
	if (push_begin(&i.push, s, q, SOURCE_PUSH_INGEST, PUSHED_BYTES_MAX, r)) {
		if (read_address(&i)) {
			e = read_file(&i, &err);
			if (e < 0)
				push_refuse_read(&i.push, e, 422, &err);
			else
				push_submit(&i.push);
		}
		params_done(&i.params);
	}
	labels_done(&i.labels);
	push_done(&i.push);
}
