/* moment.c: finds in PHP's tables what a note names by addresses.
 *
 * Functions that are written down in a table stay until the request ends. Closures and the file scope of scripts go away, and
 * others take their memory: they are known by what the note has read of them.
 */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "moment.h"

#include "function_id.h"
#include "guarded_read.h"

#include "zend_closures.h"

/* How far below the safe point a noted call is looked for: what was called since the tick has not called much. */
#define LOOK_BELOW	16

#define LONGEST_NAME	256

static const void *code_of(const zend_function *f)
{
	return ZEND_USER_CODE(f->type) ? (const void *)f->op_array.opcodes : (const void *)f->internal_function.handler;
}

void found_functions_clear(struct found_functions *found)
{
	call_sites_clear(&found->sites);
	if (found->any)
		memset(found->at, 0, sizeof(found->at));
	found->any = false;
}

struct name {
	char text[LONGEST_NAME];
	size_t length;
};

static bool read_name(const zend_string *s, struct name *ret)
{
	zend_string head;

	if (!s || !guarded_read(&head, s, offsetof(zend_string, val)) || !head.len || head.len > sizeof(ret->text))
		return false;
	ret->length = head.len;
	return guarded_read(ret->text, (const char *)s + offsetof(zend_string, val), head.len);
}

static zend_function *look_up(HashTable *table, const struct name *name)
{
	return zend_hash_str_find_ptr_lc(table, name->text, name->length);
}

/* Copies of one function are as good as each other: classes have their own of the methods they inherit. */
static bool is_same(const zend_function *in_table, const zend_function *noted, const zend_function *copy)
{
	return in_table && (in_table == noted || (in_table->type == copy->type && code_of(in_table) == code_of(copy)));
}

static const zend_function *find_named(const zend_function *noted, const zend_function *copy)
{
	const zend_class_entry *scope = copy->common.scope;
	zend_string *class_name;
	zend_class_entry *ce;
	zend_function *f;
	struct name name;

	if (!read_name(copy->common.function_name, &name))
		return NULL;
	if (!scope) {
		f = look_up(EG(function_table), &name);
		return is_same(f, noted, copy) ? f : NULL;
	}
	{
		struct name class;

		if (!GUARDED_READ_MEMBER(&class_name, zend_class_entry, scope, name) || !read_name(class_name, &class))
			return NULL;
		ce = zend_hash_str_find_ptr_lc(EG(class_table), class.text, class.length);
	}
	if (!ce || ce != scope)
		return NULL;
	f = look_up(&ce->function_table, &name);
	return is_same(f, noted, copy) ? f : NULL;
}

/* A closure's function lies in its object, which PHP's list of objects knows while it lives. */
static const zend_function *find_closure(const zend_function *noted)
{
	zend_object *o = (zend_object *)((char *)noted - sizeof(zend_object)), copy;

	if (!guarded_read(&copy, o, sizeof(copy)) || copy.ce != zend_ce_closure || !copy.handle ||
	    copy.handle >= EG(objects_store).top || EG(objects_store).object_buckets[copy.handle] != o)
		return NULL;
	return zend_get_closure_method_def(o) == noted ? noted : NULL;
}

static const zend_function *find_in_tables(const zend_function *noted)
{
	zend_function copy = { 0 };

	if (!noted || !guarded_read(&copy, noted, sizeof(zend_internal_function)))
		return NULL;
	if (ZEND_USER_CODE(copy.type) && !guarded_read(&copy, noted, sizeof(copy)))
		return NULL;
	if ((copy.common.fn_flags & (ZEND_ACC_CLOSURE | ZEND_ACC_FAKE_CLOSURE)) && find_closure(noted))
		return noted;
	return function_is_closure(&copy) ? NULL : find_named(noted, &copy);
}

/* The function that lives at a noted address, if PHP's tables say so: it is only then that the address may be followed. */
static const zend_function *find_function(struct found_functions *found, const zend_function *noted)
{
	unsigned slot = (unsigned)((uintptr_t)noted >> 4) % FOUND_FUNCTIONS;
	const zend_function *f;

	if (found->at[slot].noted == noted)
		return found->at[slot].function;
	f = find_in_tables(noted);
	if (f && !(f->common.fn_flags & (ZEND_ACC_CLOSURE | ZEND_ACC_FAKE_CLOSURE))) {
		found->at[slot].noted = noted;
		found->at[slot].function = f;
		found->any = true;
	}
	return f;
}

/* The closure with that code among those that are written in a function. */
static const zend_function *find_definition(const zend_function *in, const void *code)
{
	for (uint32_t i = 0; ZEND_USER_CODE(in->type) && i < in->op_array.num_dynamic_func_defs; i++)
		if (in->op_array.dynamic_func_defs[i]->opcodes == code)
			return (const zend_function *)in->op_array.dynamic_func_defs[i];
	return NULL;
}

/* A closure that is gone, as most are soon after they were called: by its code, which stays with the function that it is
 * written in; and that is mostly one of its callers. */
static const zend_function *find_freed_closure(const struct moment *m, const void *code)
{
	const zend_execute_data *frame = m->frame;
	const zend_function *f = NULL;

	for (unsigned i = m->returned_count; i-- > 0 && !f;)
		f = find_definition(m->returned[i], code);
	for (int n = 0; !f && frame && n < LOOK_BELOW; n++, frame = frame->prev_execute_data)
		if (frame->func)
			f = find_definition(frame->func, code);
	return f;
}

/* The file scope of a script that has ended: the name must be that of a file that was included. */
static const zend_function *find_file(struct moment *m, const zend_string *noted)
{
	zend_op_array *file = &m->files[m->file_count];
	struct name name;
	zval *entry;

	if (m->file_count == MOMENT_FILES || !read_name(noted, &name) ||
	    !(entry = zend_hash_str_find(&EG(included_files), name.text, name.length)))
		return NULL;
	memset(file, 0, sizeof(*file));
	file->type = ZEND_USER_FUNCTION;
	file->filename = ((Bucket *)entry)->key;
	m->file_count++;
	return (const zend_function *)file;
}

/* What was called at a tick and has returned since. NULL if that cannot be told. */
static const zend_function *find_returned(struct found_functions *found, struct moment *m, const struct noted_call *call)
{
	const zend_function *f;

	if (call->file)
		return find_file(m, call->file);
	f = find_function(found, call->function);
	if (!call->code || (f && code_of(f) == call->code))
		return f;
	return find_freed_closure(m, call->code);
}

static bool is_call(const zend_execute_data *frame, const struct tick_note *note, unsigned i)
{
	const struct noted_call *call = &note->calls[i];

	if (frame != call->frame || (call->function && frame->func != call->function))
		return false;
	return !call->code || !frame->func || code_of(frame->func) == call->code;
}

static zend_execute_data *find_frame(zend_execute_data *current, const struct tick_note *note, unsigned i)
{
	for (int n = 0; current && n < LOOK_BELOW; n++, current = current->prev_execute_data)
		if (is_call(current, note, i))
			return current;
	return NULL;
}

void moment_find(struct moment *m, const struct tick_note *note, zend_execute_data *current, struct found_functions *found)
{
	const zend_function *caller;
	zend_execute_data *frame = NULL;
	unsigned i;

	m->frame = current;
	m->returned_count = m->file_count = 0;
	for (i = 0; i < note->depth && !frame; i++)
		frame = find_frame(current, note, i);
	if (!frame)
		return;
	m->frame = frame;
	caller = frame->func;
	for (i--; i-- > 0;) {
		const zend_function *f;

		if (!note->calls[i].function)
			continue;
		f = find_returned(found, m, &note->calls[i]);
		if (!f || (!note->sure && caller && !call_site_exists(&found->sites, caller, f)))
			break;
		caller = m->returned[m->returned_count++] = f;
	}
}
