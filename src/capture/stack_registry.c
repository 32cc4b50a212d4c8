/* stack_registry.c: tables of functions, stacks, requests and counts. */

#include "stack_registry_private.h"

#include "mem.h"
#include "perl_name.h"
#include "text.h"

#include <string.h>
#include <xxhash.h>

struct stack_registry *stack_registry_new(void)
{
	struct stack_registry *b = xcalloc(1, sizeof(*b));

	b->names = profile_new();
	map_init(&b->functions);
	map_init(&b->php_stacks);
	map_init(&b->native_stacks);
	map_init(&b->kernel_stacks);
	map_init(&b->requests);
	file_registry_init(&b->files);
	map_init(&b->keys);
	return b;
}

struct stack_registry *stack_registry_free(struct stack_registry *b)
{
	if (!b)
		return NULL;
	profile_free(b->names);
	map_done(&b->functions);
	map_done(&b->php_stacks);
	map_done(&b->native_stacks);
	map_done(&b->kernel_stacks);
	map_done(&b->requests);
	file_registry_done(&b->files);
	map_done(&b->keys);
	free(b->stacks);
	free(b->php_frames);
	free(b->native_frames);
	free(b->kernel_frames);
	free(b->request_events);
	free(b->counts);
	kernel_symbols_done(&b->symbols);
	free(b);
	return NULL;
}

static struct str text_of(const char *bytes, size_t capacity)
{
	return (struct str){ bytes, strnlen(bytes, capacity) };
}

/* Before 8.4 every closure is named "{closure}", later by the enclosing function and its line. */
static bool is_closure(struct str name)
{
	return text_ends(name, "}") && (text_starts(name, "{closure") || text_has(name, "\\{closure"));
}

/* Puts a name; one that was too long for the event ends in an ellipsis. */
static void put_text(struct buf *out, struct str text, u32 size, u32 capacity)
{
	buf_put(out, text.p, text.n);
	if (size >= capacity)
		buf_puts(out, "…");
}

void stack_registry_put_name(const struct function_event *e, struct buf *out)
{
	struct str name = text_of(e->name, NAME_SIZE), scope = text_of(e->scope, NAME_SIZE), file = text_of(e->file, FILE_SIZE);

	if (e->kind >= PERL_SUB) {
		perl_put_name(e, out);
		return;
	}
	if (!name.n && e->unreadable) {
		buf_puts(out, STACK_REGISTRY_UNKNOWN);
		return;
	}
	if (!name.n) {
		put_text(out, file, e->file_size, FILE_SIZE);
		return;
	}
	if (scope.n) {
		put_text(out, scope, e->class_size, NAME_SIZE);
		buf_puts(out, "::");
	}
	if (is_closure(name) && file.n)
		buf_printf(out, "{closure:%.*s(%u)}", (int)file.n, file.p, e->line_start);
	else
		put_text(out, name, e->name_size, NAME_SIZE);
}

static void note_function(struct stack_registry *b, const struct function_event *e)
{
	_cleanup_(buf_done) struct buf name = { 0 };
	struct str file = e->kind >= PERL_SUB ? perl_file_name(e) : text_of(e->file, FILE_SIZE);

	buf_init(&name);
	stack_registry_put_name(e, &name);
	map_set(&b->functions, e->id, profile_frame(b->names, (struct str){ name.data, name.size }, file, e->line_start));
}

static struct known_stack *new_stack(struct stack_registry *b, struct map *ids, u64 id, u32 first, u32 count)
{
	if (map_get(ids, id) != MAP_NONE)
		return NULL;
	GROW(&b->stacks, &b->stack_capacity, b->stack_count + 1);
	map_set(ids, id, (u32)b->stack_count);
	b->stacks[b->stack_count] = (struct known_stack){ .first = first, .count = count };
	return &b->stacks[b->stack_count++];
}

/* Reverses the frames of generators that wait in `yield from`. */
static void turn_delegates(struct php_frame *frames, u32 count)
{
	u32 first, end;

	for (first = 0; first < count; first = end + 1) {
		for (end = first; end < count && frames[end].flags & FRAME_DELEGATE; end++)
			;
		for (u32 i = first, j = end; i + 1 < j; i++) {
			struct php_frame f = frames[i];

			frames[i] = frames[--j];
			frames[j] = f;
		}
	}
}

static void note_php_stack(struct stack_registry *b, const struct php_stack_event *e)
{
	struct known_stack *s = new_stack(b, &b->php_stacks, e->id, (u32)b->php_count, e->count);

	if (!s)
		return;
	s->perl = e->type == EVENT_PERL_STACK;
	GROW(&b->php_frames, &b->php_capacity, b->php_count + e->count);
	memcpy(b->php_frames + b->php_count, e->frames, e->count * sizeof(*e->frames));
	turn_delegates(b->php_frames + b->php_count, e->count);
	b->php_count += e->count;
}

static void add_native_stack(struct stack_registry *b, u64 id, const u64 *frames, u32 count, enum native_end end)
{
	struct known_stack *s = new_stack(b, &b->native_stacks, id, (u32)b->native_count, count);

	if (!s)
		return;
	s->end = end;
	GROW(&b->native_frames, &b->native_capacity, b->native_count + count);
	memcpy(b->native_frames + b->native_count, frames, count * sizeof(*frames));
	b->native_count += count;
}

static void note_kernel_stack(struct stack_registry *b, const struct kernel_stack_event *e)
{
	if (!new_stack(b, &b->kernel_stacks, e->id, (u32)b->kernel_count, e->count))
		return;
	GROW(&b->kernel_frames, &b->kernel_capacity, b->kernel_count + e->count);
	memcpy(b->kernel_frames + b->kernel_count, e->frames, e->count * sizeof(*e->frames));
	b->kernel_count += e->count;
}

static void note_request(struct stack_registry *b, const struct request_event *e)
{
	u32 *place = map_slot(&b->requests, e->id);

	if (*place != MAP_NONE)
		return;
	GROW(&b->request_events, &b->request_capacity, b->request_count + 1);
	*place = (u32)b->request_count;
	b->request_events[b->request_count++] = *e;
}

void stack_registry_note(struct stack_registry *b, const void *event, size_t size)
{
	const struct php_stack_event *php = event;
	const struct native_stack_event *native = event;
	const struct kernel_stack_event *kernel = event;

	switch (*(const u32 *)event) {
	case EVENT_FUNCTION:
		if (size >= sizeof(struct function_event))
			note_function(b, event);
		break;
	case EVENT_PHP_STACK:
	case EVENT_PERL_STACK:
		if (size >= offsetof(struct php_stack_event, frames) && php->count <= PHP_DEPTH &&
		    size >= offsetof(struct php_stack_event, frames) + php->count * sizeof(php->frames[0]))
			note_php_stack(b, php);
		break;
	case EVENT_NATIVE_STACK:
		if (size >= offsetof(struct native_stack_event, frames) && native->count <= NATIVE_DEPTH &&
		    size >= offsetof(struct native_stack_event, frames) + native->count * sizeof(native->frames[0]))
			add_native_stack(b, native->id, native->frames, native->count, native->end);
		break;
	case EVENT_KERNEL_STACK:
		if (size >= offsetof(struct kernel_stack_event, frames) && kernel->count <= KERNEL_DEPTH &&
		    size >= offsetof(struct kernel_stack_event, frames) + kernel->count * sizeof(kernel->frames[0]))
			note_kernel_stack(b, kernel);
		break;
	case EVENT_REQUEST:
		if (size >= sizeof(struct request_event))
			note_request(b, event);
		break;
	case EVENT_FILE:
		file_registry_note(&b->files, event, size);
		break;
	}
}

void stack_registry_count(struct stack_registry *b, const struct count_key *key, const struct count *count)
{
	u32 *slot = map_slot(&b->keys, XXH3_64bits(key, sizeof(*key)));

	if (*slot == MAP_NONE) {
		GROW(&b->counts, &b->count_capacity, b->count_count + 1);
		*slot = (u32)b->count_count;
		b->counts[b->count_count++] = (struct counted){ *key, { 0, 0 } };
	}
	b->counts[*slot].count.samples += count->samples;
	b->counts[*slot].count.ns += count->ns;
}

static void take_off(u64 *from, u64 *n)
{
	u64 most = *n < *from ? *n : *from;

	*from -= most;
	*n -= most;
}

void stack_registry_take_off(struct stack_registry *b, const struct count_key *key, struct count *count)
{
	u32 place = map_get(&b->keys, XXH3_64bits(key, sizeof(*key)));

	if (place == MAP_NONE)
		return;
	take_off(&b->counts[place].count.samples, &count->samples);
	take_off(&b->counts[place].count.ns, &count->ns);
}

void stack_registry_count_file(struct stack_registry *b, const struct file_key *key, const struct file_count *count)
{
	file_registry_count(&b->files, key, count);
}

struct file_count stack_registry_file_sum(const struct stack_registry *b, enum file_operation operation)
{
	return file_registry_sum(&b->files, operation);
}

struct count stack_registry_sum(const struct stack_registry *b, enum sample_kind kind)
{
	struct count sum = { 0, 0 };

	for (size_t i = 0; i < b->count_count; i++) {
		if (b->counts[i].key.kind != kind)
			continue;
		sum.samples += b->counts[i].count.samples;
		sum.ns += b->counts[i].count.ns;
	}
	return sum;
}

bool stack_registry_request(const struct stack_registry *b, u64 id, const char **ret_script, const char **ret_method)
{
	u32 place = id ? map_get(&b->requests, id) : MAP_NONE;

	if (place == MAP_NONE)
		return false;
	*ret_script = b->request_events[place].script;
	*ret_method = b->request_events[place].method;
	return true;
}

/* --- recordings without end */

void stack_registry_forget_counts(struct stack_registry *b)
{
	map_clear(&b->keys);
	b->count_count = 0;
	file_registry_forget_counts(&b->files);
}

size_t stack_registry_size(const struct stack_registry *b)
{
	return b->functions.count + b->stack_count + b->request_count + b->files.ids.count;
}

static void adopt_function(struct stack_registry *b, const struct stack_registry *from, u64 id)
{
	u32 at = map_get(&from->functions, id);
	const struct profile *names = from->names;

	if (at != MAP_NONE)
		map_set(&b->functions, id, profile_frame(b->names, profile_name(names, at), profile_file(names, at),
							 names->frames[at].line));
}

static void adopt_php_stack(struct stack_registry *b, const struct stack_registry *from, u64 id)
{
	u32 at = map_get(&from->php_stacks, id);
	const struct known_stack *s;
	struct known_stack *own;

	if (at == MAP_NONE)
		return;
	s = &from->stacks[at];
	if (!(own = new_stack(b, &b->php_stacks, id, (u32)b->php_count, s->count)))
		return;
	own->perl = s->perl;
	GROW(&b->php_frames, &b->php_capacity, b->php_count + s->count);
	memcpy(b->php_frames + b->php_count, from->php_frames + s->first, s->count * sizeof(*b->php_frames));
	b->php_count += s->count;
	for (u32 i = 0; i < s->count; i++)
		adopt_function(b, from, from->php_frames[s->first + i].function);
}

static void adopt_native_stack(struct stack_registry *b, const struct stack_registry *from, u64 id)
{
	u32 at = map_get(&from->native_stacks, id);
	const struct known_stack *s = at == MAP_NONE ? NULL : &from->stacks[at];

	if (s)
		add_native_stack(b, id, from->native_frames + s->first, s->count, s->end);
}

static void adopt_kernel_stack(struct stack_registry *b, const struct stack_registry *from, u64 id)
{
	u32 at = map_get(&from->kernel_stacks, id);
	const struct known_stack *s;

	if (at == MAP_NONE)
		return;
	s = &from->stacks[at];
	if (!new_stack(b, &b->kernel_stacks, id, (u32)b->kernel_count, s->count))
		return;
	GROW(&b->kernel_frames, &b->kernel_capacity, b->kernel_count + s->count);
	memcpy(b->kernel_frames + b->kernel_count, from->kernel_frames + s->first, s->count * sizeof(*b->kernel_frames));
	b->kernel_count += s->count;
}

void stack_registry_adopt(struct stack_registry *b, const struct stack_registry *from, const struct count_key *key)
{
	u32 request = key->request ? map_get(&from->requests, key->request) : MAP_NONE;

	adopt_php_stack(b, from, key->php);
	adopt_native_stack(b, from, key->native);
	adopt_kernel_stack(b, from, key->kernel);
	if (request != MAP_NONE)
		note_request(b, &from->request_events[request]);
}
