/* pyroscope_query.c: maps names of fields to members of the struct. */
#include "pyroscope_query.h"

#include "mem.h"
#include "messages.h"
#include "profile.h"
#include "protobuf.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

static const struct member {
	const char *name;
	enum { TEXT, TEXTS, INTEGER, DOUBLE } kind;
	size_t at;
} members[] = {
	{ "profile_typeID", TEXT, offsetof(struct pyroscope_query, type) },
	{ "label_selector", TEXT, offsetof(struct pyroscope_query, selector) },
	{ "name", TEXT, offsetof(struct pyroscope_query, name) },
	{ "start", INTEGER, offsetof(struct pyroscope_query, start_ms) },
	{ "end", INTEGER, offsetof(struct pyroscope_query, end_ms) },
	{ "max_nodes", INTEGER, offsetof(struct pyroscope_query, max_nodes) },
	{ "limit", INTEGER, offsetof(struct pyroscope_query, limit) },
	{ "step", DOUBLE, offsetof(struct pyroscope_query, step_s) },
	{ "format", INTEGER, offsetof(struct pyroscope_query, format) },
	{ "exemplar_type", INTEGER, offsetof(struct pyroscope_query, exemplars) },
	{ "query_type", INTEGER, offsetof(struct pyroscope_query, heatmap) },
	{ "matchers", TEXTS, offsetof(struct pyroscope_query, matchers) },
	{ "label_names", TEXTS, offsetof(struct pyroscope_query, label_names) },
	{ "group_by", TEXTS, offsetof(struct pyroscope_query, group_by) },
	{ "span_selector", TEXTS, offsetof(struct pyroscope_query, spans) },
	{ "trace_id_selector", TEXTS, offsetof(struct pyroscope_query, traces) },
	{ "profile_id_selector", TEXTS, offsetof(struct pyroscope_query, profiles) },
};

/* Rejects a NUL, which would silently truncate the text. */
static int copy_text(struct pyroscope_query *q, const char *name, struct protobuf bytes, const char **ret, struct err *err)
{
	size_t n = (size_t)(bytes.end - bytes.p);

	if (memchr(bytes.p, 0, n))
		return err_set(err, -EINVAL, "the field %s has a NUL byte", name);
	*ret = arena_copy(&q->bytes, bytes.p, n);
	return 0;
}

static int add_text(struct pyroscope_query *q, struct pyroscope_texts *to, const char *name, struct protobuf bytes,
		    struct err *err)
{
	if (to->count == PYROSCOPE_TEXTS_MAX)
		return err_set(err, -EINVAL, "the field %s has more than %u elements", name, PYROSCOPE_TEXTS_MAX);
	GROW(&to->items, &to->capacity, to->count + 1);
	return copy_text(q, name, bytes, &to->items[to->count++], err);
}

static int set_member(struct pyroscope_query *q, const struct member *m, struct protobuf_field *f, struct err *err)
{
	void *at = (char *)q + m->at;

	if (m->kind == TEXTS)
		return add_text(q, at, m->name, f->bytes, err);
	if (m->kind == TEXT)
		return copy_text(q, m->name, f->bytes, at, err);
	memcpy(at, &f->value, sizeof(f->value));
	return 0;
}

/* Frames by name, root first. Answers never have an empty name: they show profile_visible_name. */
static int take_call_site(struct pyroscope_query *q, struct protobuf stacks, struct err *err)
{
	struct str visible = profile_visible_name((struct str){ "", 0 });
	struct protobuf unknown = { (const uint8_t *)visible.p, (const uint8_t *)visible.p + visible.n };
	struct protobuf_field site, name;
	int r = 0;

	while (r >= 0 && protobuf_next(&stacks, &site)) {
		struct protobuf_field last = { .type = 2, .bytes = { (const uint8_t *)"", (const uint8_t *)"" } };

		if (site.number != STACKS_CALL_SITE)
			continue;
		while (protobuf_next(&site.bytes, &name))
			if (name.number == CALL_SITE_NAME)
				last = name;
		if (last.bytes.p == last.bytes.end)
			last.bytes = unknown;
		r = add_text(q, &q->call_site, "call_site", last.bytes, err);
	}
	return r;
}

int pyroscope_query_read(struct pyroscope_query *q, const struct message *m, const void *bytes, size_t n, struct err *err)
{
	struct protobuf in = { bytes, (const uint8_t *)bytes + n };
	struct protobuf_field f;
	int r = 0;

	*q = (struct pyroscope_query){ .type = "", .selector = "", .name = "" };
	arena_init(&q->bytes);
	while (r >= 0 && protobuf_next(&in, &f)) {
		const struct message_field *field = message_field_of(m, f.number);

		if (!field)
			continue;
		if (!strcmp(field->name, "stack_trace_selector"))
			r = take_call_site(q, f.bytes, err);
		for (size_t i = 0; r >= 0 && i < ARRAY_SIZE(members); i++)
			if (!strcmp(field->name, members[i].name))
				r = set_member(q, &members[i], &f, err);
	}
	return r;
}

void pyroscope_query_done(struct pyroscope_query *q)
{
	struct pyroscope_texts *lists[] = { &q->matchers, &q->label_names, &q->group_by, &q->call_site, &q->spans, &q->traces,
					    &q->profiles };

	for (size_t i = 0; i < ARRAY_SIZE(lists); i++)
		free(lists[i]->items);
	arena_done(&q->bytes);
}
