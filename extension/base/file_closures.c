/* file_closures.c: a table by code address, filled after each compilation. */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "file_closures.h"

#include <pthread.h>
#include <stdlib.h>

#define SLOTS	4096u		/* at most half of them are used */
#define BACK	256u		/* preceding closures of a file that are searched for one on the same line … */
#define BELOW	8u		/* … until so many of them are on earlier lines */

struct slot {
	const zend_op *code;	/* NULL: free slot; the code may be freed during the request, and its address reused */
	uint32_t line, order;
};

struct table {
	struct slot *slots;	/* NULL: not allocated */
	uint32_t used;
};

/* The last closures of the file, in source order. */
struct walk {
	uint32_t lines[BACK], orders[BACK];
	uint32_t count;
};

ZEND_TLS struct table table;

static zend_op_array *(*next_compile_file)(zend_file_handle *file, int type);
static zend_op_array *(*next_compile_string)(zend_string *source, const char *name, zend_compile_position position);
static bool installed;

/* Returns the slot of the code, or the free one for it. */
static struct slot *slot_of(const zend_op *code)
{
	uint32_t i = (uint32_t)((uintptr_t)code >> 4 ^ (uintptr_t)code >> 16) % SLOTS;

	while (table.slots[i].code && table.slots[i].code != code)
		i = (i + 1) % SLOTS;
	return &table.slots[i];
}

/* The first closure of a line is stored only if its address had another order before. */
static void note(const zend_op_array *closure, uint32_t order)
{
	struct slot *s;

	if (order == 1 && !table.used)
		return;
	if (!table.slots && !(table.slots = calloc(SLOTS, sizeof(*table.slots))))
		return;
	s = slot_of(closure->opcodes);
	if (!s->code && (order == 1 || table.used == SLOTS / 2))
		return;
	table.used += !s->code;
	*s = (struct slot){ closure->opcodes, closure->line_start, order > 1 ? order : 0 };
}

/* Closures usually come in order of lines, but those in the head of a loop come after those in its body. */
static uint32_t next_order(struct walk *w, uint32_t line)
{
	uint32_t order = 1, at = w->count % BACK, below = 0;

	for (uint32_t i = 1; i <= w->count && i <= BACK && below < BELOW; i++) {
		uint32_t k = (w->count - i) % BACK;

		if (w->lines[k] == line) {
			order = w->orders[k] + 1;
			break;
		}
		below += w->lines[k] < line;
	}
	w->lines[at] = line;
	w->orders[at] = order;
	w->count++;
	return order;
}

static void walk(struct walk *w, const zend_op_array *in)
{
	for (uint32_t i = 0; i < in->num_dynamic_func_defs; i++) {
		const zend_op_array *d = in->dynamic_func_defs[i];

		if (!(d->fn_flags & ZEND_ACC_CLOSURE))
			continue;
		note(d, next_order(w, d->line_start));
		walk(w, d);
	}
}

static zend_op_array *note_closures(zend_op_array *file)
{
	struct walk w;

	if (file && file->num_dynamic_func_defs) {
		w.count = 0;
		walk(&w, file);
	}
	return file;
}

static zend_op_array *compile_and_note_file(zend_file_handle *file, int type)
{
	return note_closures(next_compile_file(file, type));
}

static zend_op_array *compile_and_note_string(zend_string *source, const char *name, zend_compile_position position)
{
	return note_closures(next_compile_string(source, name, position));
}

static void install(void)
{
	next_compile_file = zend_compile_file;
	zend_compile_file = compile_and_note_file;
	next_compile_string = zend_compile_string;
	zend_compile_string = compile_and_note_string;
	installed = true;
}

void file_closures_request_start(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, install);
	if (table.used)
		memset(table.slots, 0, SLOTS * sizeof(*table.slots));
	table.used = 0;
}

void file_closures_shutdown(void)
{
	if (!installed)
		return;
	if (zend_compile_file == compile_and_note_file)
		zend_compile_file = next_compile_file;
	if (zend_compile_string == compile_and_note_string)
		zend_compile_string = next_compile_string;
}

void file_closures_thread_end(void)
{
	free(table.slots);
	table.slots = NULL;
}

uint32_t file_closures_order(const zend_op_array *closure)
{
	const struct slot *s = table.used ? slot_of(closure->opcodes) : NULL;

	return s && s->code && s->line == closure->line_start ? s->order : 0;
}
