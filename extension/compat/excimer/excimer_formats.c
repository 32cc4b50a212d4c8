/* excimer_formats.c: output formats of logs. */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "excimer_formats.h"

#include "zend_smart_str.h"

/* The line that replaces omitted callers. */
#define TRUNCATED_NAME "excimer_truncated"
#define TRUNCATED_FILE "excimer fake file"

/* The file name of internal functions, if one is required. */
#define INTERNAL_FILE "[internal function]"

static bool is_truncation(const struct excimer_node *n)
{
	return !n->function.name && !n->function.file;
}

static void append(smart_str *to, const char *s, size_t length, bool words)
{
	size_t from = smart_str_get_len(to);

	smart_str_appendl(to, s, length);
	for (size_t i = from; words && i < ZSTR_LEN(to->s); i++)
		if (ZSTR_VAL(to->s)[i] == ' ' || ZSTR_VAL(to->s)[i] == '\0')
			ZSTR_VAL(to->s)[i] = '_';
}

/* With `words`, blanks in the name are replaced. */
static void append_name(smart_str *to, const struct excimer_node *n, bool words)
{
	const struct function_id *f = &n->function;

	if (f->closure) {
		smart_str_appends(to, "{closure:");
		append(to, ZSTR_VAL(f->file), ZSTR_LEN(f->file), words);
		smart_str_appendc(to, '(');
		smart_str_append_long(to, f->line);
		smart_str_appends(to, ")}");
	} else if (is_truncation(n)) {
		smart_str_appends(to, TRUNCATED_NAME);
	} else if (!f->name) {
		append(to, ZSTR_VAL(f->file), ZSTR_LEN(f->file), words);
	} else {
		if (f->scope) {
			append(to, ZSTR_VAL(f->scope->name), ZSTR_LEN(f->scope->name), words);
			smart_str_appends(to, "::");
		}
		append(to, ZSTR_VAL(f->name), ZSTR_LEN(f->name), words);
	}
}

/* Fills in a frame's array. An internal function gets file and line of its call, since readers expect both in each
 * frame. */
static void frame_elements(const struct excimer_log *log, const struct excimer_node *n, zval *ret)
{
	const struct function_id *f = &n->function;
	const struct excimer_node *place = f->name && !f->file ? &log->nodes[n->caller] : n;

	array_init_size(ret, 8);
	if (is_truncation(n)) {
		add_assoc_string(ret, "file", TRUNCATED_FILE);
		add_assoc_long(ret, "line", n->line);
		add_assoc_string(ret, "function", TRUNCATED_NAME);
		return;
	}
	if (place->function.file)
		add_assoc_str(ret, "file", zend_string_copy(place->function.file));
	else
		add_assoc_string(ret, "file", INTERNAL_FILE);
	add_assoc_long(ret, "line", place->line);
	if (f->scope)
		add_assoc_str(ret, "class", zend_string_copy(f->scope->name));
	if (f->name)
		add_assoc_str(ret, "function", zend_string_copy(f->name));
	if (f->closure)
		add_assoc_long(ret, "closure_line", f->line);
}

/* The nodes at which entries end, in order of first occurrence, and the events of each. There are far fewer stacks
 * than entries, so the code below visits each stack only once. */
struct leaves {
	uint32_t *order;
	size_t count;
	zend_long *events;		/* by node */
};

static void leaves_init(struct leaves *l, const struct excimer_log *log)
{
	bool *seen = ecalloc(log->node_count + 1, sizeof(*seen));

	l->order = safe_emalloc(log->node_count, sizeof(*l->order), 1);
	l->events = ecalloc(log->node_count + 1, sizeof(*l->events));
	l->count = 0;
	for (size_t i = 0; i < log->entry_count; i++) {
		uint32_t n = log->entries[i].node;

		l->events[n] += log->entries[i].events;
		if (!seen[n]) {
			seen[n] = true;
			l->order[l->count++] = n;
		}
	}
	efree(seen);
}

static void leaves_done(struct leaves *l)
{
	efree(l->order);
	efree(l->events);
}

/* Adds to the number stored under `key`, which starts at 0. */
static void add_long(zend_array *to, zend_string *key, zend_long term)
{
	zval *sum = zend_hash_lookup(to, key);

	if (Z_TYPE_P(sum) == IS_NULL)
		ZVAL_LONG(sum, 0);
	Z_LVAL_P(sum) += term;
}

static uint32_t depth_of(const struct excimer_log *log, uint32_t node)
{
	uint32_t depth = 0;

	for (; node; node = log->nodes[node].caller)
		depth++;
	return depth;
}

/* Lists the nodes from the outermost frame to `node`. */
static void path_to(const struct excimer_log *log, uint32_t node, uint32_t depth, uint32_t *path)
{
	for (; node; node = log->nodes[node].caller)
		path[--depth] = node;
}

/* Returns the stack that ends at `node`, outermost frame first. `path` has room for all nodes. */
static zend_string *stack_line(const struct excimer_log *log, uint32_t node, uint32_t *path)
{
	uint32_t depth = depth_of(log, node);
	smart_str line = { 0 };

	path_to(log, node, depth, path);
	for (uint32_t i = 0; i < depth; i++) {
		if (i)
			smart_str_appendc(&line, ';');
		append_name(&line, &log->nodes[path[i]], true);
	}
	return smart_str_extract(&line);
}

zend_string *excimer_collapsed(const struct excimer_log *log)
{
	uint32_t *path = safe_emalloc(log->node_count, sizeof(*path), 1);
	struct leaves leaves;
	smart_str text = { 0 };
	zend_array lines;
	zend_string *line;
	zval *count;

	leaves_init(&leaves, log);
	zend_hash_init(&lines, 0, NULL, NULL, 0);
	/* Stacks that differ only in lines are merged here. */
	for (size_t i = 0; i < leaves.count; i++) {
		line = stack_line(log, leaves.order[i], path);
		add_long(&lines, line, leaves.events[leaves.order[i]]);
		zend_string_release(line);
	}
	ZEND_HASH_FOREACH_STR_KEY_VAL(&lines, line, count) {
		smart_str_append(&text, line);
		smart_str_appendc(&text, ' ');
		smart_str_append_long(&text, Z_LVAL_P(count));
		smart_str_appendc(&text, '\n');
	} ZEND_HASH_FOREACH_END();
	zend_hash_destroy(&lines);
	leaves_done(&leaves);
	efree(path);
	return smart_str_extract(&text);
}

static void speedscope_frame(const struct excimer_node *n, zval *ret)
{
	smart_str name = { 0 };

	/* Without a line, since speedscope would treat each line as a different function. */
	array_init_size(ret, 2);
	append_name(&name, n, true);
	add_assoc_str(ret, "name", smart_str_extract(&name));
	if (is_truncation(n))
		add_assoc_string(ret, "file", TRUNCATED_FILE);
	else if (!n->function.file)
		add_assoc_string(ret, "file", INTERNAL_FILE);
	else
		add_assoc_str(ret, "file", zend_string_copy(n->function.file));
}

/* Adds frames to `ret`, each combination of name and file once; returns the index of the frame by node. */
static zend_long *speedscope_frames(const struct excimer_log *log, zval *ret)
{
	zend_long *at = safe_emalloc(log->node_count, sizeof(*at), 1);
	zend_array known;

	array_init(ret);
	zend_hash_init(&known, 0, NULL, NULL, 0);
	for (uint32_t i = 1; i < log->node_count; i++) {
		const struct excimer_node *n = &log->nodes[i];
		smart_str key = { 0 };
		zval frame, *index;

		append_name(&key, n, true);
		smart_str_appendc(&key, '\0');
		if (n->function.file)
			smart_str_append(&key, n->function.file);
		smart_str_0(&key);
		index = zend_hash_lookup(&known, key.s);
		if (Z_TYPE_P(index) == IS_NULL) {
			ZVAL_LONG(index, zend_hash_num_elements(Z_ARRVAL_P(ret)));
			speedscope_frame(n, &frame);
			zend_hash_next_index_insert_new(Z_ARRVAL_P(ret), &frame);
		}
		at[i] = Z_LVAL_P(index);
		smart_str_free(&key);
	}
	zend_hash_destroy(&known);
	return at;
}

/* Returns the frames of a stack, outermost first. */
static zend_array *speedscope_stack(const struct excimer_log *log, uint32_t node, const zend_long *frame_at,
				    uint32_t *path)
{
	uint32_t depth = depth_of(log, node);
	zend_array *stack = zend_new_array(depth);

	path_to(log, node, depth, path);
	zend_hash_real_init_packed(stack);
	ZEND_HASH_FILL_PACKED(stack) {
		for (uint32_t i = 0; i < depth; i++) {
			ZEND_HASH_FILL_SET_LONG(frame_at[path[i]]);
			ZEND_HASH_FILL_NEXT();
		}
	} ZEND_HASH_FILL_END();
	return stack;
}

/* Entries with the same stack share an array. */
static void speedscope_samples(const struct excimer_log *log, const zend_long *frame_at, zval *samples, zval *weights)
{
	uint32_t *path = safe_emalloc(log->node_count, sizeof(*path), 1);
	zend_array **stacks = ecalloc(log->node_count + 1, sizeof(*stacks));

	array_init(samples);
	array_init(weights);
	for (size_t i = 0; i < log->entry_count; i++) {
		const struct excimer_entry *e = &log->entries[i];

		if (stacks[e->node])
			GC_ADDREF(stacks[e->node]);
		else
			stacks[e->node] = speedscope_stack(log, e->node, frame_at, path);
		add_next_index_array(samples, stacks[e->node]);
		add_next_index_long(weights, (zend_long)((uint64_t)e->events * (uint64_t)log->period_ns));
	}
	efree(stacks);
	efree(path);
}

void excimer_speedscope(const struct excimer_log *log, zval *ret)
{
	zval frames, shared, samples, weights, profile, profiles;
	zend_long *frame_at = speedscope_frames(log, &frames);
	uint64_t ns = 0;

	if (log->entry_count)
		ns = log->entries[log->entry_count - 1].time_ns - log->entries[0].time_ns;
	speedscope_samples(log, frame_at, &samples, &weights);
	efree(frame_at);

	array_init(&shared);
	add_assoc_zval(&shared, "frames", &frames);

	array_init(&profile);
	add_assoc_string(&profile, "type", "sampled");
	add_assoc_string(&profile, "name", "");
	add_assoc_string(&profile, "unit", "nanoseconds");
	add_assoc_long(&profile, "startValue", 0);
	add_assoc_long(&profile, "endValue", (zend_long)ns);
	add_assoc_zval(&profile, "samples", &samples);
	add_assoc_zval(&profile, "weights", &weights);

	array_init(&profiles);
	add_next_index_zval(&profiles, &profile);

	array_init(ret);
	add_assoc_string(ret, "$schema", "https://www.speedscope.app/file-format-schema.json");
	add_assoc_string(ret, "exporter", "Excimer");
	add_assoc_zval(ret, "shared", &shared);
	add_assoc_zval(ret, "profiles", &profiles);
}

/* Functions by name, numbered. */
struct function_total {
	zend_string *name;
	uint32_t first;			/* first node with this name */
	uint32_t counted;		/* the last stack in which it was counted */
	zend_long self, inclusive;
};

struct function_totals {
	struct function_total *of;	/* begins at index 1 */
	uint32_t count;
	uint32_t *by_node;		/* 0: not visited yet */
	zend_array by_name;
};

static struct function_total *total_of(struct function_totals *t, const struct excimer_log *log, uint32_t node)
{
	smart_str name = { 0 };
	zval *index;

	if (t->by_node[node])
		return &t->of[t->by_node[node]];
	append_name(&name, &log->nodes[node], false);
	smart_str_0(&name);
	index = zend_hash_lookup(&t->by_name, name.s);
	if (Z_TYPE_P(index) == IS_NULL) {
		ZVAL_LONG(index, ++t->count);
		t->of[t->count] = (struct function_total){ .name = zend_string_copy(name.s), .first = node };
	}
	smart_str_free(&name);
	t->by_node[node] = (uint32_t)Z_LVAL_P(index);
	return &t->of[t->by_node[node]];
}

static int more_inclusive(Bucket *a, Bucket *b)
{
	zend_long x = Z_LVAL_P(zend_hash_str_find(Z_ARRVAL(a->val), ZEND_STRL("inclusive")));
	zend_long y = Z_LVAL_P(zend_hash_str_find(Z_ARRVAL(b->val), ZEND_STRL("inclusive")));

	return x < y ? 1 : x > y ? -1 : 0;
}

zend_array *excimer_by_function(const struct excimer_log *log)
{
	struct function_totals t = {
		.of = ecalloc(log->node_count + 1, sizeof(*t.of)),
		.by_node = ecalloc(log->node_count + 1, sizeof(*t.by_node)),
	};
	zend_array *result = zend_new_array(0);
	struct leaves leaves;

	zend_hash_init(&t.by_name, 0, NULL, NULL, 0);
	leaves_init(&leaves, log);
	for (size_t i = 0; i < leaves.count; i++) {
		uint32_t leaf = leaves.order[i];

		for (uint32_t n = leaf; n; n = log->nodes[n].caller) {
			struct function_total *f = total_of(&t, log, n);

			if (n == leaf)
				f->self += leaves.events[leaf];
			if (f->counted != i + 1)
				f->inclusive += leaves.events[leaf];
			f->counted = (uint32_t)i + 1;
		}
	}
	for (uint32_t i = 1; i <= t.count; i++) {
		zval info;

		frame_elements(log, &log->nodes[t.of[i].first], &info);
		add_assoc_long(&info, "self", t.of[i].self);
		add_assoc_long(&info, "inclusive", t.of[i].inclusive);
		zend_hash_update(result, t.of[i].name, &info);
		zend_string_release(t.of[i].name);
	}
	zend_hash_sort(result, more_inclusive, 0);
	leaves_done(&leaves);
	zend_hash_destroy(&t.by_name);
	efree(t.by_node);
	efree(t.of);
	return result;
}

zend_array *excimer_trace(const struct excimer_log *log, uint32_t node)
{
	zend_array *trace = zend_new_array(0);

	for (; node; node = log->nodes[node].caller) {
		zval frame;

		frame_elements(log, &log->nodes[node], &frame);
		zend_hash_next_index_insert(trace, &frame);
	}
	return trace;
}
