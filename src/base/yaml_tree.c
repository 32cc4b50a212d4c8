/* yaml_tree.c: builds nodes from libyaml's events. */
#include "yaml_tree.h"

#include "io.h"

#include <stdarg.h>
#include <string.h>
#include <yaml.h>

#define TAG_PREFIX	"tag:yaml.org,2002:"

struct anchor {
	const char *name;
	const struct yaml_node *node;		/* NULL while it is being read */
};

struct reader {
	yaml_parser_t parser;
	yaml_event_t event;			/* the current event */
	bool has_event;
	const char *file;
	struct arena *memory;
	unsigned nodes;
	struct anchor anchors[YAML_ANCHORS];
	unsigned anchor_count;
	struct err *err;
};

static int read_node(struct reader *r, unsigned depth, struct yaml_node **ret);

/* --- Errors --- */

static int fail_at(struct reader *r, size_t line, const char *format, ...) _printf_(3, 4);

static int fail_at(struct reader *r, size_t line, const char *format, ...)
{
	char text[512];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	return err_set(r->err, -EINVAL, "%s:%zu: %s", r->file, line, text);
}

#define FAIL(r, ...) fail_at(r, (r)->event.start_mark.line + 1, __VA_ARGS__)

int yaml_error(const struct yaml_node *n, struct err *err, const char *format, ...)
{
	char text[768];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	return err_set(err, -EINVAL, "%s:%u: %s", n->file, n->line, text);
}

/* libyaml names the problem, but rarely the remedy. */
static int yaml_failed(struct reader *r)
{
	const yaml_parser_t *p = &r->parser;
	const char *problem = p->problem ? p->problem : "this is no YAML";

	if (p->error == YAML_READER_ERROR)
		return err_set(r->err, -EINVAL, "%s: byte %zu: %s; the file must be UTF-8 text", r->file,
			       p->problem_offset, problem);
	return fail_at(r, p->problem_mark.line + 1, "%s; %s", problem,
		       strstr(problem, "cannot start any token") || strstr(problem, "tab character") ?
			       "indent with spaces, not with tabs, and put text that begins with @ or ` in quotes" :
			       "check the indentation and the quotes of this line and the one above it");
}

/* --- Events --- */

static int advance(struct reader *r)
{
	if (r->has_event)
		yaml_event_delete(&r->event);
	r->has_event = yaml_parser_parse(&r->parser, &r->event);
	return r->has_event ? 0 : yaml_failed(r);
}

static int check_tag(struct reader *r, const yaml_char_t *tag)
{
	static const char *const known[] = { "str", "int", "float", "bool", "null", "seq", "map" };
	const char *t = (const char *)tag;

	if (!t || !strcmp(t, "!"))
		return 0;
	if (!strncmp(t, TAG_PREFIX, strlen(TAG_PREFIX)))
		for (size_t i = 0; i < ARRAY_SIZE(known); i++)
			if (!strcmp(t + strlen(TAG_PREFIX), known[i]))
				return 0;
	return FAIL(r, "unsupported tag '%.64s'; remove it", t);
}

/* --- Nodes --- */

static int new_node(struct reader *r, enum yaml_kind kind, const yaml_char_t *tag, struct yaml_node **ret)
{
	struct yaml_node *n;

	if (check_tag(r, tag) < 0)
		return -EINVAL;
	if (r->nodes++ >= YAML_NODES)
		return FAIL(r, "more than %u values; a configuration does not need so many", YAML_NODES);
	n = arena_alloc(r->memory, sizeof(*n));
	n->kind = kind;
	n->file = r->file;
	n->line = (unsigned)r->event.start_mark.line + 1;
	n->column = (unsigned)r->event.start_mark.column + 1;
	n->weight = n->height = 1;
	*ret = n;
	return 0;
}

/* Returns the index, or a negative error. The node is set when it is complete: an alias to an incomplete one would be
 * endless. */
static int add_anchor(struct reader *r, const yaml_char_t *name)
{
	struct anchor *a;

	if (r->anchor_count == YAML_ANCHORS)
		return FAIL(r, "more than %u anchors; write some values out", YAML_ANCHORS);
	a = &r->anchors[r->anchor_count];
	a->name = arena_copy(r->memory, name, strlen((const char *)name));
	a->node = NULL;
	return (int)r->anchor_count++;
}

static int read_alias(struct reader *r, const struct yaml_node **ret)
{
	const char *name = (const char *)r->event.data.alias.anchor;
	unsigned i = r->anchor_count;

	while (i && strcmp(r->anchors[i - 1].name, name))
		i--;
	if (!i)
		return FAIL(r, "there is no anchor &%.64s above *%.64s", name, name);
	if (!r->anchors[i - 1].node)
		return FAIL(r, "*%.64s is an alias of a value that contains it", name);
	*ret = r->anchors[i - 1].node;
	return advance(r);
}

static int read_scalar(struct reader *r, struct yaml_node **ret)
{
	const yaml_event_t *e = &r->event;
	const char *text = (const char *)e->data.scalar.value;
	size_t length = e->data.scalar.length;

	if (new_node(r, YAML_SCALAR, e->data.scalar.tag, ret) < 0)
		return -EINVAL;
	if (memchr(text, 0, length))
		return FAIL(r, "a value with a NUL byte in it; remove it");
	(*ret)->text = arena_copy(r->memory, text, length);
	(*ret)->is_quoted = e->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
	return advance(r);
}

static int read_value(struct reader *r, unsigned depth, const struct yaml_node **ret)
{
	struct yaml_node *n = NULL;
	int result;

	if (r->event.type == YAML_ALIAS_EVENT)
		return read_alias(r, ret);
	result = read_node(r, depth, &n);
	*ret = n;
	return result;
}

/* A small tree with a few aliases could expand to billions of nodes. */
static int add_weight(struct reader *r, struct yaml_node *n, const struct yaml_node *value, unsigned depth)
{
	n->weight += value->weight;
	if (value->height + 1 > n->height)
		n->height = value->height + 1;
	if (n->weight > YAML_NODES)
		return yaml_error(n, r->err, "more than %u values once aliases (*) are expanded",
				  YAML_NODES);
	if (depth + n->height > YAML_DEPTH + 1)
		return yaml_error(n, r->err, "nested more than %u levels deep", YAML_DEPTH);
	return 0;
}

static int check_key(struct reader *r, const struct yaml_node *n, const struct yaml_node *key)
{
	const struct yaml_node *same;

	if (key->kind != YAML_SCALAR)
		return yaml_error(key, r->err, "a key must be plain text");
	if (!strcmp(key->text, "<<") && !key->is_quoted)
		return yaml_error(key, r->err, "merge keys (<<) are not supported; write the values out");
	same = yaml_find(n, key->text);
	if (same)
		return yaml_error(key, r->err, "'%.64s' is a duplicate of line %u; remove one of them",
				  key->text, same->line);
	return 0;
}

static int read_items(struct reader *r, struct yaml_node *n, unsigned depth, yaml_event_type_t end)
{
	struct yaml_item **last = (struct yaml_item **)&n->first, *item;

	if (advance(r) < 0)
		return -EINVAL;
	while (r->event.type != end) {
		item = arena_alloc(r->memory, sizeof(*item));
		if (n->kind == YAML_MAPPING &&
		    (read_value(r, depth + 1, &item->key) < 0 || check_key(r, n, item->key) < 0))
			return -EINVAL;
		if (read_value(r, depth + 1, &item->value) < 0 || add_weight(r, n, item->value, depth) < 0)
			return -EINVAL;
		*last = item;
		last = &item->next;
		n->count++;
	}
	return advance(r);
}

static int read_kind(struct reader *r, unsigned depth, struct yaml_node **ret)
{
	const yaml_event_t *e = &r->event;

	if (depth > YAML_DEPTH)
		return FAIL(r, "nested more than %u levels deep", YAML_DEPTH);
	if (e->type == YAML_SCALAR_EVENT)
		return read_scalar(r, ret);
	if (e->type == YAML_SEQUENCE_START_EVENT)
		return new_node(r, YAML_SEQUENCE, e->data.sequence_start.tag, ret) < 0 ? -EINVAL :
			read_items(r, *ret, depth, YAML_SEQUENCE_END_EVENT);
	return new_node(r, YAML_MAPPING, e->data.mapping_start.tag, ret) < 0 ? -EINVAL :
		read_items(r, *ret, depth, YAML_MAPPING_END_EVENT);
}

static const yaml_char_t *anchor_of(const yaml_event_t *e)
{
	switch (e->type) {
	case YAML_SCALAR_EVENT:
		return e->data.scalar.anchor;
	case YAML_SEQUENCE_START_EVENT:
		return e->data.sequence_start.anchor;
	default:
		return e->data.mapping_start.anchor;
	}
}

/* The event is the first of a scalar, a sequence or a mapping; afterwards it is the next one. */
static int read_node(struct reader *r, unsigned depth, struct yaml_node **ret)
{
	const yaml_char_t *name = anchor_of(&r->event);
	int anchor = -1;

	if (name && (anchor = add_anchor(r, name)) < 0)
		return anchor;
	if (read_kind(r, depth, ret) < 0)
		return -EINVAL;
	if (anchor >= 0)
		r->anchors[anchor].node = *ret;
	return 0;
}

/* --- The file --- */

static int read_document(struct reader *r, const struct yaml_node **ret)
{
	struct yaml_node *empty = NULL;

	if (advance(r) < 0 || advance(r) < 0)		/* to the start of the stream, and after it */
		return -EINVAL;
	if (r->event.type == YAML_STREAM_END_EVENT) {
		if (new_node(r, YAML_SCALAR, NULL, &empty) < 0)
			return -EINVAL;
		empty->text = "";
		*ret = empty;
		return 0;
	}
	if (advance(r) < 0 || read_value(r, 1, ret) < 0 || advance(r) < 0)
		return -EINVAL;
	return r->event.type == YAML_STREAM_END_EVENT ? 0 :
		FAIL(r, "a second document begins here; only one is read, put it into a file of its own");
}

int yaml_tree_parse(const char *name, const void *bytes, size_t n, struct yaml_tree *ret, struct err *err)
{
	struct reader r = { .memory = &ret->memory, .err = err };
	int result;

	arena_init(&ret->memory);
	ret->root = NULL;
	if (n > YAML_BYTES)
		return err_set(err, -EFBIG, "'%s' exceeds the limit of %u bytes for a configuration", name,
			       YAML_BYTES);
	r.file = arena_copy(&ret->memory, name, strlen(name));
	if (!yaml_parser_initialize(&r.parser))
		return err_set(err, -ENOMEM, "not enough memory to read '%s'", name);
	yaml_parser_set_input_string(&r.parser, bytes, n);
	result = read_document(&r, &ret->root);
	if (r.has_event)
		yaml_event_delete(&r.event);
	yaml_parser_delete(&r.parser);
	return result;
}

int yaml_tree_read(const char *path, struct yaml_tree *ret, struct err *err)
{
	_cleanup_(buf_done) struct buf b = { 0 };
	int r;

	buf_init(&b);
	arena_init(&ret->memory);
	ret->root = NULL;
	r = io_read_file(path, &b, YAML_BYTES, err);
	return r < 0 ? r : yaml_tree_parse(path, b.data, b.size, ret, err);
}

void yaml_tree_done(struct yaml_tree *t)
{
	arena_done(&t->memory);
	t->root = NULL;
}

/* --- For readers --- */

const struct yaml_node *yaml_find(const struct yaml_node *n, const char *key)
{
	if (!n || n->kind != YAML_MAPPING)
		return NULL;
	for (const struct yaml_item *i = n->first; i; i = i->next)
		if (!strcmp(i->key->text, key))
			return i->value;
	return NULL;
}

bool yaml_is_null(const struct yaml_node *n)
{
	static const char *const words[] = { "", "~", "null", "Null", "NULL" };

	if (!n)
		return true;
	if (n->kind != YAML_SCALAR || n->is_quoted)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (!strcmp(n->text, words[i]))
			return true;
	return false;
}

int yaml_want(const struct yaml_node *n, enum yaml_kind kind, const char *what, struct err *err)
{
	static const char *const kinds[] = { "one value", "a list", "a mapping (name: value)" };

	if (n->kind == kind && !(kind == YAML_SCALAR && yaml_is_null(n)))
		return 0;
	if (!what)
		return yaml_error(n, err, "the configuration must be %s, not %s", kinds[kind],
				  yaml_is_null(n) ? "empty" : kinds[n->kind]);
	return yaml_error(n, err, "'%s' must be %s, not %s", what, kinds[kind],
			  yaml_is_null(n) ? "empty" : kinds[n->kind]);
}

int yaml_get_text(const struct yaml_node *n, const char *what, const char **ret, struct err *err)
{
	if (yaml_want(n, YAML_SCALAR, what, err) < 0)
		return -EINVAL;
	*ret = n->text;
	return 0;
}

int yaml_get_number(const struct yaml_node *n, const char *what, int64_t min, int64_t max, int64_t *ret,
		    struct err *err)
{
	char *end;
	long long v;

	if (yaml_want(n, YAML_SCALAR, what, err) < 0)
		return -EINVAL;
	errno = 0;
	v = strtoll(n->text, &end, 10);
	if (*end || end == n->text || errno || n->text[0] == ' ' || v < min || v > max)
		return yaml_error(n, err, "invalid '%s: %.64s'; use a whole number from %lld to %lld", what, n->text,
				  (long long)min, (long long)max);
	*ret = v;
	return 0;
}

int yaml_get_bool(const struct yaml_node *n, const char *what, bool *ret, struct err *err)
{
	static const struct { const char *word; bool value; } words[] = {
		{ "true", true }, { "yes", true }, { "on", true },
		{ "false", false }, { "no", false }, { "off", false },
	};

	if (yaml_want(n, YAML_SCALAR, what, err) < 0)
		return -EINVAL;
	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		if (strcasecmp(n->text, words[i].word))
			continue;
		*ret = words[i].value;
		return 0;
	}
	return yaml_error(n, err, "invalid '%s: %.64s'; use true or false", what, n->text);
}
