/* stack_profile.c: profiles from the counts of a stack registry. */

#include "stack_registry_private.h"

#include "file_profile.h"
#include "label_groups.h"
#include "layers.h"
#include "mem.h"

#include <string.h>

struct native_name {
	u32 frame;			/* its frame in the profile */
	enum module_mark mark;
};

struct writer {
	const struct stack_registry *stacks;
	struct profile *p;
	const struct stack_registry_layers *layers;
	struct map native;		/* native frame -> index of `native_names` */
	struct native_name *native_names;
	size_t name_count, name_capacity;
	u32 *frames;			/* by frame of book->names: the frame of `p`, + 1 */
};

static u32 named_frame(struct profile *p, const char *name)
{
	return profile_frame(p, (struct str){ name, strlen(name) }, (struct str){ "", 0 }, 0);
}

static u32 frame_of_function(const struct writer *w, u64 id)
{
	const struct profile *names = w->stacks->names;
	u32 at = map_get(&w->stacks->functions, id);

	if (id == FUNCTION_TRUNCATED)
		return named_frame(w->p, STACK_REGISTRY_TRUNCATED);
	if (id == FUNCTION_UNKNOWN_PERL)
		return named_frame(w->p, STACK_REGISTRY_UNKNOWN_PERL);
	if (id < FUNCTION_SPECIAL || at == MAP_NONE)
		return named_frame(w->p, STACK_REGISTRY_UNKNOWN);
	if (!w->frames[at])
		w->frames[at] = 1 + profile_frame(w->p, profile_name(names, at), profile_file(names, at), names->frames[at].line);
	return w->frames[at] - 1;
}

static u32 add_frame(const struct writer *w, u32 node, const struct php_frame *f)
{
	return profile_child_at(w->p, node, frame_of_function(w, f->function), f->line);
}

/* Adds frames of PHP or Perl. */
static u32 add_known(const struct writer *w, u32 node, const struct known_stack *s)
{
	for (u32 i = s->count; i-- > 0; )
		node = add_frame(w, node, &w->stacks->php_frames[s->first + i]);
	return node;
}

static u32 add_php(const struct writer *w, u32 node, u64 id)
{
	const char *outside = w->layers && w->layers->outside ? w->layers->outside : STACK_REGISTRY_OUTSIDE;
	u32 at = map_get(&w->stacks->php_stacks, id);

	if (at == MAP_NONE)
		return profile_child(w->p, node, named_frame(w->p, id ? STACK_REGISTRY_UNKNOWN : outside));
	return add_known(w, node, &w->stacks->stacks[at]);
}

/* Adds a frame for the unknown callers of a native frame. An address outside all mappings already has that name. */
static u32 add_gap(const struct writer *w, u32 node, const struct known_stack *s)
{
	if (s->end == NATIVE_TOO_DEEP)
		return profile_child(w->p, node, named_frame(w->p, STACK_REGISTRY_TRUNCATED));
	if (s->end == NATIVE_NO_RANGE)
		return node;
	return profile_child(w->p, node, named_frame(w->p, MODULES_UNKNOWN));
}

/* Each address is looked up once; many have the same name. */
static struct native_name native_name(struct writer *w, u64 frame)
{
	_cleanup_(buf_done) struct buf name = { 0 };
	u32 *slot = map_slot(&w->native, frame);
	struct native_name n;
	const char *path;

	if (*slot != MAP_NONE)
		return w->native_names[*slot];
	*slot = (u32)w->name_count;
	buf_init(&name);
	n.mark = modules_put_name(w->layers->modules, frame, &name, &path);
	n.frame = profile_frame(w->p, (struct str){ name.data, name.size }, (struct str){ path, strlen(path) }, 0);
	GROW(&w->native_names, &w->name_capacity, w->name_count + 1);
	w->native_names[w->name_count++] = n;
	return n;
}

static u32 add_native(struct writer *w, u32 node, const struct known_stack *s)
{
	if (s->end != NATIVE_OUTERMOST)
		node = add_gap(w, node, s);
	for (u32 i = s->count; i-- > 0;)
		node = profile_child(w->p, node, native_name(w, w->stacks->native_frames[s->first + i]).frame);
	return node;
}

/* Perl's stack is one block: native frames up to the outermost runops are its callers, and native code called from
 * the innermost runops follows it. Native frames in between, which call back (sort, ties, XS), are left out; without
 * a runops, all are. */
static u32 add_perl(struct writer *w, u32 node, const struct known_stack *perl, const struct known_stack *native)
{
	const u64 *frames = w->stacks->native_frames + native->first;
	u32 innermost = native->count, outermost = 0;

	for (u32 i = native->count; i-- > 0;) {
		if (native_name(w, frames[i]).mark != MARK_PERL)
			continue;
		if (innermost == native->count)
			outermost = i;
		innermost = i;
	}
	if (innermost == native->count)
		return add_known(w, node, perl);
	if (native->end != NATIVE_OUTERMOST)
		node = add_gap(w, node, native);
	else
		for (u32 i = native->count; i-- > outermost + 1;)
			node = profile_child(w->p, node, native_name(w, frames[i]).frame);
	node = add_known(w, node, perl);
	for (u32 i = innermost; i-- > 0;)
		node = profile_child(w->p, node, native_name(w, frames[i]).frame);
	return node;
}

/* Merges PHP and native frames into one stack. */
static u32 add_both(struct writer *w, u32 node, const struct known_stack *php, const struct known_stack *native)
{
	enum module_mark marks[NATIVE_DEPTH];
	struct layer_frame frames[LAYERS_MAX];
	const struct php_frame *php_frames = php ? w->stacks->php_frames + php->first : NULL;
	const u64 *native_frames = w->stacks->native_frames + native->first;
	struct layers l = { php_frames, php ? php->count : 0, marks, native->count, native->end };
	size_t n;

	for (u32 i = 0; i < native->count; i++)
		marks[i] = native_name(w, native_frames[i]).mark;
	n = layers_merge(&l, frames);
	for (size_t i = 0; i < n; i++) {
		u32 at = frames[i].index;

		if (frames[i].layer == LAYER_GAP)
			node = add_gap(w, node, native);
		else if (frames[i].layer == LAYER_OF_PHP)
			node = add_frame(w, node, &php_frames[at]);
		else
			node = profile_child(w->p, node, native_name(w, native_frames[at]).frame);
	}
	return node;
}

/* Without PHP functions, C code is running, which is more informative than "outside". Lost descriptions become a
 * frame, too. */
static u32 add_user(struct writer *w, u32 node, const struct count_key *key)
{
	const struct stack_registry *b = w->stacks;
	u32 php = map_get(&b->php_stacks, key->php), native = w->layers->native ? map_get(&b->native_stacks, key->native) : MAP_NONE;

	if (native == MAP_NONE)
		return w->layers->php ? add_php(w, node, key->php) : profile_child(w->p, node, named_frame(w->p, MODULES_UNKNOWN));
	if (!w->layers->php)
		return add_native(w, node, &b->stacks[native]);
	if (key->php && php == MAP_NONE)
		return add_native(w, add_php(w, node, key->php), &b->stacks[native]);
	if (php != MAP_NONE && b->stacks[php].perl)
		return add_perl(w, node, &b->stacks[php], &b->stacks[native]);
	return add_both(w, node, php == MAP_NONE ? NULL : &b->stacks[php], &b->stacks[native]);
}

/* At a switch, the programs run on top of the stack that they record. */
static bool is_ours(const char *name)
{
	return name && (!strncmp(name, "bpf_prog_", 9) || !strncmp(name, "bpf_trace_run", 13) ||
			!strncmp(name, "__bpf_trace_", 12) || !strncmp(name, "__traceiter_", 12));
}

static u32 add_kernel(const struct writer *w, u32 node, u64 id, bool at_switch)
{
	u32 at = map_get(&w->stacks->kernel_stacks, id);
	const struct known_stack *s;

	if (at == MAP_NONE)
		return profile_child(w->p, node, named_frame(w->p, "[kernel]_[k]"));
	s = &w->stacks->stacks[at];
	for (u32 i = s->count; i-- > 0; ) {
		/* Except for the leaf, an address is that after the call. */
		const char *name = kernel_symbols_find(&w->stacks->symbols, w->stacks->kernel_frames[s->first + i] - (i > 0));
		char text[512];

		if (at_switch && is_ours(name))
			break;
		snprintf(text, sizeof(text), "%s_[k]", name ? name : "[kernel]");
		node = profile_child(w->p, node, named_frame(w->p, text));
	}
	return node;
}

static u32 column(struct profile *p, bool wanted, const char *name, const char *unit)
{
	return wanted ? profile_column(p, name, unit) : UINT32_MAX;
}

static void add(struct profile *p, u32 node, u32 column, u64 value)
{
	if (column != UINT32_MAX)
		profile_add(p, node, column, value > INT64_MAX ? INT64_MAX : (int64_t)value);
}

struct columns {
	u32 wall, samples, cpu, off, blocked, runnable;
};

static struct columns make_columns(struct profile *p, const struct stack_registry_layers *layers)
{
	struct columns c;

	c.wall = column(p, layers->on_cpu && layers->off_cpu, "wall_ns", "nanoseconds");
	c.samples = column(p, layers->on_cpu, "samples", "count");
	c.cpu = column(p, layers->on_cpu, "cpu_ns", "nanoseconds");
	c.off = column(p, layers->off_cpu, "off_cpu_ns", "nanoseconds");
	c.blocked = column(p, layers->off_cpu, "blocked_ns", "nanoseconds");
	c.runnable = column(p, layers->off_cpu, "runnable_ns", "nanoseconds");
	return c;
}

/* Tells whether the stack of this count has any frame of the layers. */
static bool is_shown(const struct stack_registry_layers *layers, const struct count_key *key)
{
	return layers->php || layers->native || key->kernel;
}

static void add_counted(struct writer *w, const struct columns *to, const struct counted *c)
{
	const struct stack_registry_layers *layers = w->layers;
	u32 node = PROFILE_ROOT;

	if (layers->php || layers->native)
		node = add_user(w, node, &c->key);
	if (layers->kernel && c->key.kernel && (c->key.kind == SAMPLE_ON_CPU || !layers->waits_end_in_user))
		node = add_kernel(w, node, c->key.kernel, c->key.kind != SAMPLE_ON_CPU);
	add(w->p, node, to->wall, c->count.ns);
	if (c->key.kind == SAMPLE_ON_CPU) {
		add(w->p, node, to->samples, c->count.samples);
		add(w->p, node, to->cpu, c->count.ns);
	} else {
		add(w->p, node, to->off, c->count.ns);
		add(w->p, node, c->key.kind == SAMPLE_BLOCKED ? to->blocked : to->runnable, c->count.ns);
	}
}

/* Makes a profile of the counts whose group is `group`, or of all counts if there are no groups. */
static struct profile *make_profile(const struct stack_registry *b, const struct stack_registry_layers *layers, const u32 *groups, u32 group)
{
	struct profile *p = profile_new();
	struct writer w = {
		.stacks = b, .p = p, .layers = layers, .frames = xcalloc(b->names->frame_count + 1, sizeof(u32)),
	};
	struct columns columns = make_columns(p, layers);

	profile_keep_lines(p, layers->lines);
	map_init(&w.native);
	for (size_t i = 0; i < b->count_count; i++)
		if ((!groups || groups[i] == group) && is_shown(layers, &b->counts[i].key))
			add_counted(&w, &columns, &b->counts[i]);
	map_done(&w.native);
	free(w.native_names);
	free(w.frames);
	return p;
}

static void need_symbols(struct stack_registry *b, const struct stack_registry_layers *layers)
{
	if (layers->kernel && !b->has_symbols)
		kernel_symbols_load(&b->symbols);
	b->has_symbols |= layers->kernel;
}

struct profile *stack_registry_profile(struct stack_registry *b, const struct stack_registry_layers *layers, u64 *ret_left_out)
{
	*ret_left_out = 0;
	if (layers->file_io)
		return file_profile(b, layers);
	for (size_t i = 0; i < b->count_count; i++)
		if (!is_shown(layers, &b->counts[i].key))
			*ret_left_out += b->counts[i].count.samples;
	need_symbols(b, layers);
	return make_profile(b, layers, NULL, 0);
}

/* --- one profile per set of labels */

void stack_registry_each(struct stack_registry *b, const struct stack_registry_layers *layers, void *data,
		     void (*label)(void *data, const struct count_key *key, struct labels *ret),
		     void (*take)(void *data, struct profile *p))
{
	struct label_groups groups;
	u32 *group_of;

	if (layers->file_io) {
		file_profile_each(b, layers, data, label, take);
		return;
	}
	label_groups_init(&groups);
	group_of = xcalloc(b->count_count + 1, sizeof(*group_of));
	for (size_t i = 0; i < b->count_count; i++) {
		struct labels labels;

		labels_init(&labels);
		label(data, &b->counts[i].key, &labels);
		group_of[i] = label_groups_find(&groups, &labels);
		labels_done(&labels);
	}
	need_symbols(b, layers);
	for (u32 i = 0; i < groups.count; i++) {
		struct profile *p = make_profile(b, layers, group_of, i);

		labels_copy(&p->labels, &groups.labels[i]);
		take(data, p);
	}
	label_groups_done(&groups);
	free(group_of);
}

/* --- one stack at a time */

struct stack_writer {
	struct writer w;
};

struct stack_writer *stack_writer_new(const struct stack_registry *b, struct profile *p)
{
	struct stack_writer *w = xcalloc(1, sizeof(*w));

	w->w.stacks = b;
	w->w.p = p;
	w->w.frames = xcalloc(b->names->frame_count + 1, sizeof(u32));
	return w;
}

struct stack_writer *stack_writer_free(struct stack_writer *w)
{
	if (w)
		free(w->w.frames);
	free(w);
	return NULL;
}

u32 stack_writer_add(struct stack_writer *w, u32 node, u64 php)
{
	return add_php(&w->w, node, php);
}
