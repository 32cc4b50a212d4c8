/* closure_home.c: searches PHP's tables for a closure's code. */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "closure_home.h"

#include "file_closures.h"
#include "function_id.h"

#include <stdlib.h>

#define SLOTS	256u

/* The number of running calls to search: most closures are defined in a recent one. */
#define NEAR	64

struct known_home {
	const zend_op *code;		/* may be freed, and reused by another closure … */
	const zend_string *file;	/* … which is then defined elsewhere */
	const zend_class_entry *scope;	/* classes that use a trait share the code */
	uint32_t line;
	uint32_t request;
	struct closure_home home;
};

/* One per thread. The slots are allocated, because little static thread-local storage is left for libraries loaded
 * late. */
struct closure_homes {
	struct known_home *slots;	/* NULL: not allocated */
	uint32_t request;
};

ZEND_TLS struct closure_homes homes = { .request = 1 };

void closure_home_request_start(void)
{
	homes.request++;
}

void closure_home_thread_end(void)
{
	free(homes.slots);
	homes.slots = NULL;
}

/* --- Its order on its line */

/* Counts closures on the line in source order; returns true at the one with that code. A function declared inside
 * another one is also in the table of functions, and handled there. */
static bool count_until(const zend_op_array *in, const zend_op_array *closure, uint32_t *count)
{
	for (uint32_t i = 0; i < in->num_dynamic_func_defs; i++) {
		const zend_op_array *d = in->dynamic_func_defs[i];

		if (!(d->fn_flags & ZEND_ACC_CLOSURE))
			continue;
		*count += d->line_start == closure->line_start;
		if (d->opcodes == closure->opcodes || count_until(d, closure, count))
			return true;
	}
	return false;
}

static bool may_hold(const zend_function *f, const zend_op_array *closure)
{
	return ZEND_USER_CODE(f->type) && f->op_array.num_dynamic_func_defs &&
	       (f->op_array.filename == closure->filename || zend_string_equals(f->op_array.filename, closure->filename)) &&
	       (!f->common.function_name ||
		(f->op_array.line_start <= closure->line_start && closure->line_start <= f->op_array.line_end));
}

static bool count_in_function(const zend_function *f, const zend_op_array *closure, uint32_t *count)
{
	return may_hold(f, closure) && count_until(&f->op_array, closure, count);
}

static uint32_t order_of(uint32_t count)
{
	return count > 1 ? count : 0;
}

/* Returns how many closures the functions before `home` have on that line; NULL: all functions. Other code can share
 * the line only where `home` begins or ends. Pieces of code eval'd at one place have the same file name, so
 * declarations in others must not count. */
static uint32_t count_before(const zend_function *home, const zend_op_array *closure)
{
	static const char eval_end[] = "eval()'d code";
	const zend_string *file = closure->filename;
	bool before = !home;
	uint32_t count = 0;
	zend_function *f;

	if (home && home->op_array.line_start < closure->line_start && closure->line_start < home->op_array.line_end)
		return 0;
	if (ZSTR_LEN(file) >= sizeof(eval_end) &&
	    !memcmp(ZSTR_VAL(file) + ZSTR_LEN(file) - (sizeof(eval_end) - 1), eval_end, sizeof(eval_end) - 1))
		return 0;
	ZEND_HASH_MAP_REVERSE_FOREACH_PTR(EG(function_table), f) {
		if (!ZEND_USER_CODE(f->type))
			break;
		if (before)
			count_in_function(f, closure, &count);
		before = before || f->op_array.opcodes == home->op_array.opcodes;
	} ZEND_HASH_FOREACH_END();
	return count;
}

/* --- The place of a closure */

static bool is_in_class(zend_class_entry *ce, const zend_op_array *closure, struct closure_home *ret)
{
	uint32_t count = 0;
	zend_function *f;

	if (ce->type != ZEND_USER_CLASS)
		return false;
	ZEND_HASH_MAP_FOREACH_PTR(&ce->function_table, f) {
		if (count_in_function(f, closure, &count)) {
			*ret = (struct closure_home){ ce, order_of(count) };
			return true;
		}
	} ZEND_HASH_FOREACH_END();
	return false;
}

/* Makes the result for the `count`th closure of its line in that function, method or file scope. */
static struct closure_home in_function(const zend_function *f, const zend_op_array *closure, uint32_t count)
{
	bool is_file = !f->common.function_name;
	zend_class_entry *scope = is_file ? NULL : f->common.scope;

	/* Methods are distinguished by their class. */
	return (struct closure_home){ scope, order_of(count + (scope ? 0 : count_before(is_file ? NULL : f, closure))) };
}

/* Closures outside of functions have no enclosing name; a file included in a method has the method's scope without
 * being in the class. Running closures are skipped: counting in them would begin with one of the closures on the
 * line, not with the first. */
static bool is_in_running(const zend_op_array *closure, struct closure_home *ret)
{
	const zend_execute_data *frame = EG(current_execute_data);

	for (int n = 0; frame && n < NEAR; n++, frame = frame->prev_execute_data) {
		uint32_t count = 0;

		if (frame->func && !function_is_closure(frame->func) && count_in_function(frame->func, closure, &count)) {
			*ret = in_function(frame->func, closure, count);
			return true;
		}
	}
	return false;
}

/* PHP's own functions come first in the table. */
static bool is_in_functions(const zend_op_array *closure, struct closure_home *ret)
{
	uint32_t count = 0;
	zend_function *f;

	ZEND_HASH_MAP_REVERSE_FOREACH_PTR(EG(function_table), f) {
		if (!ZEND_USER_CODE(f->type))
			return false;
		if (count_in_function(f, closure, &count)) {
			*ret = in_function(f, closure, count);
			return true;
		}
		count = 0;
	} ZEND_HASH_FOREACH_END();
	return false;
}

static bool is_in_any_class(const zend_op_array *closure, struct closure_home *ret)
{
	zend_class_entry *ce;

	ZEND_HASH_MAP_FOREACH_PTR(EG(class_table), ce) {
		if (ce->type == ZEND_USER_CLASS && is_in_class(ce, closure, ret))
			return true;
	} ZEND_HASH_FOREACH_END();
	return false;
}

/* Property hooks and constant expressions are not in the table of functions. */
static bool is_defined_in(const zend_class_entry *ce, const zend_op_array *closure)
{
	return ce->type == ZEND_USER_CLASS && zend_string_equals(ce->info.user.filename, closure->filename) &&
	       ce->info.user.line_start <= closure->line_start && closure->line_start <= ce->info.user.line_end;
}

static struct closure_home find(const zend_op_array *closure, zend_class_entry *scope)
{
	struct closure_home home = { 0 };

	if (scope && is_in_class(scope, closure, &home))
		return home;
	if (is_in_running(closure, &home) || is_in_functions(closure, &home))
		return home;
	if (scope && is_in_any_class(closure, &home))
		return home;
	home.order = file_closures_order(closure);
	home.order = order_of((home.order ? home.order : 1) + (scope ? 0 : count_before(NULL, closure)));
	if (scope && is_defined_in(scope, closure))
		home.scope = scope;
	return home;
}

static unsigned slot_of(const zend_op_array *closure)
{
	return ((uintptr_t)closure->opcodes >> 4 ^ (uintptr_t)closure->opcodes >> 12 ^ (uintptr_t)closure->scope >> 6) % SLOTS;
}

static bool is_closure(const struct known_home *k, const zend_op_array *closure, uint32_t request)
{
	return k->code == closure->opcodes && k->scope == closure->scope && k->file == closure->filename &&
	       k->line == closure->line_start && k->request == request;
}

static void remember(const zend_op_array *closure, struct closure_home home)
{
	if (!homes.slots && !(homes.slots = calloc(SLOTS, sizeof(*homes.slots))))
		return;
	homes.slots[slot_of(closure)] = (struct known_home){
		closure->opcodes, closure->filename, closure->scope, closure->line_start, homes.request, home,
	};
}

struct closure_home closure_home(const zend_function *f)
{
	const struct known_home *known = homes.slots ? &homes.slots[slot_of(&f->op_array)] : NULL;
	struct closure_home home;

	if (known && is_closure(known, &f->op_array, homes.request))
		return known->home;
	home = find(&f->op_array, f->common.scope);
	remember(&f->op_array, home);
	return home;
}

const struct closure_homes *closure_homes_of_thread(void)
{
	return &homes;
}

bool closure_home_known(const struct closure_homes *of, const zend_op_array *closure,
			bool (*read)(void *to, const void *from, size_t size), struct closure_home *ret)
{
	struct closure_homes copy;
	struct known_home known;

	if (!read(&copy, of, sizeof(copy)) || !copy.slots ||
	    !read(&known, copy.slots + slot_of(closure), sizeof(known)) || !is_closure(&known, closure, copy.request))
		return false;
	*ret = known.home;
	return true;
}
