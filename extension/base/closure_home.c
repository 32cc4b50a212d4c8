/* closure_home.c: searches PHP's tables for a closure's code. */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "closure_home.h"

#include "function_id.h"

#include <stdlib.h>

#define SLOTS	256u

/* How many running calls are looked at: most closures are written in one that is near. */
#define NEAR	64

struct known_home {
	const zend_op *code;		/* may be freed and become another closure's … */
	const zend_string *file;	/* … which is written in another place */
	const zend_class_entry *scope;	/* classes that use a trait share the code */
	uint32_t line;
	uint32_t request;
	struct closure_home home;
};

/* Of this thread; not in its static storage, of which little is left for a library that is loaded late. NULL: none yet, or no memory. */
ZEND_TLS struct known_home *homes;
ZEND_TLS uint32_t request = 1;

void closure_home_request_start(void)
{
	request++;
}

void closure_home_thread_end(void)
{
	free(homes);
	homes = NULL;
}

/* --- Its order on its line --- */

/* Counts the closures of the line in the order of the source; true at the one with that code. */
static bool count_until(const zend_op_array *in, const zend_op_array *closure, uint32_t *count)
{
	for (uint32_t i = 0; i < in->num_dynamic_func_defs; i++) {
		const zend_op_array *d = in->dynamic_func_defs[i];

		*count += (d->fn_flags & ZEND_ACC_CLOSURE) && d->line_start == closure->line_start;
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

/* --- Where it is --- */

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

/* A file that is included in a method has its scope, and is in no class. */
static zend_class_entry *scope_of(const zend_function *f)
{
	if (function_is_closure(f))
		return closure_home(f).scope;
	return f->common.function_name ? f->common.scope : NULL;
}

/* Closures outside of functions are in what has no name. */
static bool is_in_running(const zend_op_array *closure, struct closure_home *ret)
{
	const zend_execute_data *frame = EG(current_execute_data);

	for (int n = 0; frame && n < NEAR; n++, frame = frame->prev_execute_data) {
		uint32_t count = 0;

		if (frame->func && frame->func->op_array.opcodes != closure->opcodes &&
		    count_in_function(frame->func, closure, &count)) {
			*ret = (struct closure_home){ scope_of(frame->func), order_of(count) };
			return true;
		}
	}
	return false;
}

/* Those of PHP come first in the table. */
static bool is_in_functions(const zend_op_array *closure, struct closure_home *ret)
{
	uint32_t count = 0;
	zend_function *f;

	ZEND_HASH_MAP_REVERSE_FOREACH_PTR(EG(function_table), f) {
		if (!ZEND_USER_CODE(f->type))
			return false;
		if (count_in_function(f, closure, &count)) {
			ret->order = order_of(count);
			return true;
		}
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
static bool stands_in(const zend_class_entry *ce, const zend_op_array *closure)
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
	if (scope && !is_in_any_class(closure, &home) && stands_in(scope, closure))
		home.scope = scope;
	return home;
}

static unsigned slot_of(const zend_op_array *closure)
{
	return ((uintptr_t)closure->opcodes >> 4 ^ (uintptr_t)closure->opcodes >> 12 ^ (uintptr_t)closure->scope >> 6) % SLOTS;
}

static bool is_known(const zend_op_array *closure)
{
	unsigned slot = slot_of(closure);

	return homes && homes[slot].code == closure->opcodes && homes[slot].scope == closure->scope &&
	       homes[slot].file == closure->filename && homes[slot].line == closure->line_start &&
	       homes[slot].request == request;
}

static void remember(const zend_op_array *closure, struct closure_home home)
{
	unsigned slot = slot_of(closure);

	if (!homes && !(homes = calloc(SLOTS, sizeof(*homes))))
		return;
	homes[slot].code = closure->opcodes;
	homes[slot].scope = closure->scope;
	homes[slot].file = closure->filename;
	homes[slot].line = closure->line_start;
	homes[slot].request = request;
	homes[slot].home = home;
}

struct closure_home closure_home(const zend_function *f)
{
	struct closure_home home;

	if (is_known(&f->op_array))
		return homes[slot_of(&f->op_array)].home;
	home = find(&f->op_array, f->common.scope);
	remember(&f->op_array, home);
	return home;
}

void closure_home_had_scope(const zend_function *f, zend_class_entry *scope)
{
	remember(&f->op_array, find(&f->op_array, scope));
}
