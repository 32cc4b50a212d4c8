/* handler_names.c: names C functions of PHP by the addresses of their handlers. */
#include "handler_names.h"

#include "bpf/php_key.h"
#include "mem.h"
#include "native_walk.h"
#include "process.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define CALL_VIA_TRAMPOLINE	(1u << 18)	/* in zend_function.fn_flags since PHP 7.4 */
#define WAITING_MAX	1024u		/* functions of processes whose layout is unknown; the ring holds no more at a time */

struct handler_names {
	struct modules *modules;
	const struct unwind_maps *maps;
	struct unwind_layout layout;
	struct function_event *waiting;
	size_t count, capacity;
};

struct handler_names *handler_names_new(struct modules *modules, const struct unwind_maps *maps)
{
	struct handler_names *h = xcalloc(1, sizeof(*h));

	h->modules = modules;
	h->maps = maps;
	return h;
}

struct handler_names *handler_names_free(struct handler_names *h)
{
	if (h)
		free(h->waiting);
	free(h);
	return NULL;
}

/* PHP's names of functions and classes are those in its source, with "_" for each "\". */
static void put_identifier(struct buf *out, const char *name)
{
	for (; *name; name++)
		buf_putc(out, isalnum((unsigned char)*name) ? *name : '_');
}

/* Tells whether functions share a handler: FFI calls all functions of libraries through one, and PHP adds the same
 * methods to all enumerations. */
static bool is_shared(const struct function_event *e)
{
	u32 flags = (u32)(e->words[0] >> 32);

	return flags & CALL_VIA_TRAMPOLINE ||
	       (e->class_size && (!strcmp(e->name, "cases") || !strcmp(e->name, "from") || !strcmp(e->name, "tryFrom")));
}

void handler_name_put(const struct function_event *e, struct buf *out)
{
	if (!e->name_size || e->name_size >= NAME_SIZE || e->class_size >= NAME_SIZE || e->unreadable || is_shared(e) || *e->name == '{')
		return;
	buf_puts(out, e->class_size ? "zim_" : "zif_");
	if (e->class_size) {
		put_identifier(out, e->scope);
		buf_putc(out, '_');
	}
	put_identifier(out, e->name);
}

/* Returns 0 if no function begins at the address. */
static u64 frame_at(const struct handler_names *h, u64 address)
{
	u64 frame = native_frame_at(&h->layout, address);

	return frame && modules_begins_function(h->modules, frame) ? frame : 0;
}

/* Returns false if the mappings of the process are not known yet. */
static bool learn(struct handler_names *h, const struct function_event *e)
{
	_cleanup_(buf_done) struct buf name = { 0 };
	struct unwind_process p;
	u64 handler = 0;

	if (!unwind_maps_get_process(h->maps, e->tgid, &p) || p.start_ticks != e->start_ticks ||
	    !unwind_maps_get_layout(h->maps, p.layout, &h->layout))
		return false;
	buf_init(&name);
	handler_name_put(e, &name);
	for (size_t i = 0; i < FUNCTION_WORDS && !handler; i++)
		handler = e->words[i] ? frame_at(h, e->words[i]) : 0;
	if (handler)
		modules_name_function(h->modules, handler, name.data);
	return true;
}

void handler_names_note(struct handler_names *h, const struct function_event *e)
{
	if (e->kind != PHP_INTERNAL || !e->tgid || learn(h, e))
		return;
	/* The oldest ones belong to processes that ended before they could be inspected. */
	if (h->count == WAITING_MAX) {
		h->count /= 2;
		memmove(h->waiting, h->waiting + h->count, h->count * sizeof(*h->waiting));
	}
	GROW(&h->waiting, &h->capacity, h->count + 1);
	h->waiting[h->count++] = *e;
}

void handler_names_retry(struct handler_names *h, u32 tgid)
{
	size_t kept = 0;

	for (size_t i = 0; i < h->count; i++)
		if (h->waiting[i].tgid != tgid || !learn(h, &h->waiting[i]))
			h->waiting[kept++] = h->waiting[i];
	h->count = kept;
}

bool handler_names_drop_ended(struct handler_names *h)
{
	size_t kept = 0, all = h->count;

	for (size_t i = 0; i < all; i++)
		if (process_start_ticks((pid_t)h->waiting[i].tgid) == h->waiting[i].start_ticks)
			h->waiting[kept++] = h->waiting[i];
	h->count = kept;
	return kept < all;
}
