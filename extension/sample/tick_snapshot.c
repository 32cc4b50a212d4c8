/* tick_snapshot.c: finds the functions in PHP's tables that a note identifies by address.
 *
 * Functions in PHP's tables stay until the request ends. Closures and file scopes of scripts are freed, and others
 * reuse their memory, so they are identified by the fields that the note has read.
 */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "tick_snapshot.h"

#include "function_id.h"
#include "guarded_read.h"
#include "strobe_assert.h"

#include "SAPI.h"
#include "zend_closures.h"

/* A noted call is searched down to this depth below the safe point: calls since the tick are not deeply nested. */
#define LOOK_BELOW	16

#define LONGEST_NAME	1024

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

/* Copies of a function are equivalent: classes have copies of inherited methods, and a closure created from a
 * function is a copy of it. */
static const zend_function *with_code(const zend_function *f, const void *code)
{
	return f && code_of(f) == code ? f : NULL;
}

static zend_class_entry *find_class(const zend_class_entry *noted)
{
	zend_string *class_name;
	zend_class_entry *ce;
	struct name name;

	if (!GUARDED_READ_MEMBER(&class_name, zend_class_entry, noted, name) || !read_name(class_name, &name))
		return NULL;
	ce = zend_hash_str_find_ptr_lc(EG(class_table), name.text, name.length);
	return ce == noted ? ce : NULL;
}

/* Property hooks are listed with these names: "$name::get". */
static const zend_function *find_hook(zend_class_entry *ce, const struct name *name, const void *code)
{
#if PHP_VERSION_ID >= 80400
	const char *end = name->text[0] == '$' ? memmem(name->text, name->length, "::", 2) : NULL;
	const zend_property_info *p = NULL;

	if (end)
		p = zend_hash_str_find_ptr(&ce->properties_info, name->text + 1, (size_t)(end - name->text) - 1);
	for (unsigned i = 0; p && p->hooks && i < ZEND_PROPERTY_HOOK_COUNT; i++)
		if (p->hooks[i] && code_of(p->hooks[i]) == code)
			return p->hooks[i];
#endif
	return NULL;
}

static const zend_function *find_named(const struct noted_call *call)
{
	zend_class_entry *ce;
	const zend_function *f;
	struct name name;

	if (!read_name(call->name, &name))
		return NULL;
	if (!call->scope)
		return with_code(look_up(EG(function_table), &name), call->code);
	ce = find_class(call->scope);
	if (!ce)
		return NULL;
	f = with_code(look_up(&ce->function_table, &name), call->code);
	return f ? f : find_hook(ce, &name, call->code);
}

/* A closure's function is inside its object, which is in PHP's list of objects while it lives. */
static const zend_function *find_closure(const zend_function *noted)
{
	zend_object *o = (zend_object *)((char *)noted - sizeof(zend_object)), copy;

	if (!noted || !guarded_read(&copy, o, sizeof(copy)) || copy.ce != zend_ce_closure || !copy.handle ||
	    copy.handle >= EG(objects_store).top || EG(objects_store).object_buckets[copy.handle] != o)
		return NULL;
	return zend_get_closure_method_def(o) == noted ? noted : NULL;
}

/* Finds the closure with that code among those defined in a function, or nested in them. */
static const zend_function *find_definition(const zend_function *in, const void *code)
{
	const zend_function *f = NULL;

	for (uint32_t i = 0; ZEND_USER_CODE(in->type) && i < in->op_array.num_dynamic_func_defs && !f; i++) {
		const zend_function *d = (const zend_function *)in->op_array.dynamic_func_defs[i];

		f = d->op_array.opcodes == code ? d : find_definition(d, code);
	}
	return f;
}

/* Most closures are defined in a function that is still running, or was at the tick. */
static const zend_function *find_definition_near(const struct tick_snapshot *m, const void *code)
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

static const zend_function *find_definition_in(HashTable *functions, const void *code)
{
	zend_function *f;

	ZEND_HASH_MAP_FOREACH_PTR(functions, f) {
		const zend_function *d = ZEND_USER_CODE(f->type) ? find_definition(f, code) : NULL;

		if (d)
			return d;
	} ZEND_HASH_FOREACH_END();
	return NULL;
}

/* Searches all functions and methods of the program. */
static const zend_function *find_definition_anywhere(const void *code)
{
	const zend_function *f = find_definition_in(EG(function_table), code);
	zend_class_entry *ce;

	if (f)
		return f;
	ZEND_HASH_MAP_FOREACH_PTR(EG(class_table), ce) {
		if (ce->type == ZEND_USER_CLASS && (f = find_definition_in(&ce->function_table, code)))
			return f;
	} ZEND_HASH_FOREACH_END();
	return NULL;
}

/* Grows whenever a function or class is declared. */
static uint32_t declared(void)
{
	return EG(function_table)->nNumUsed + EG(class_table)->nNumUsed;
}

static size_t slot_of(const struct noted_call *call)
{
	return ((uintptr_t)call->code >> 4 ^ (uintptr_t)call->scope >> 6 ^ (uintptr_t)call->name >> 3) % FOUND_FUNCTIONS;
}

static bool is_cached(const struct found_functions *found, const struct noted_call *call)
{
	size_t slot = slot_of(call);

	return found->at[slot].code == call->code && found->at[slot].scope == call->scope && found->at[slot].name == call->name;
}

/* Functions in the tables, and their code, stay until the request ends. Other code may be freed, and its address
 * reused by a function that is declared later. */
static const zend_function *search_tables(struct found_functions *found, const struct noted_call *call)
{
	size_t slot = slot_of(call);
	const zend_function *f;

	if (is_cached(found, call) && found->at[slot].declared == declared())
		return NULL;
	f = find_named(call);
	if (!f)
		f = find_definition_anywhere(call->code);
	found->at[slot].code = call->code;
	found->at[slot].scope = call->scope;
	found->at[slot].name = call->name;
	found->at[slot].function = f;
	found->at[slot].declared = declared();
	found->any = true;
	return f;
}

/* Makes a placeholder function for the file scope of a script. */
static const zend_function *placeholder_of_file(struct tick_snapshot *m, zend_string *name)
{
	zend_op_array *file = &m->stand_ins[m->returned_count];

	memset(file, 0, sizeof(*file));
	file->type = ZEND_USER_FUNCTION;
	file->filename = name;
	return (const zend_function *)file;
}

/* Closures of one definition may have different scopes, as in classes that use a trait; the definition itself has
 * none. */
static const zend_function *placeholder_of_closure(struct tick_snapshot *m, const zend_function *definition, const zend_class_entry *noted)
{
	zend_op_array *closure = &m->stand_ins[m->returned_count];
	zend_class_entry *scope = noted ? find_class(noted) : NULL;

	if (noted && !scope)
		return definition;
	*closure = definition->op_array;
	closure->scope = scope;
	return (const zend_function *)closure;
}

/* Finds the file scope of a script that has ended: its name must be that of an included file. */
static const zend_function *find_file(struct tick_snapshot *m, const zend_string *noted)
{
	struct name name;
	zval *entry;

	if (!read_name(noted, &name) || !(entry = zend_hash_str_find(&EG(included_files), name.text, name.length)))
		return NULL;
	return placeholder_of_file(m, ((Bucket *)entry)->key);
}

static zend_string *first_key(HashTable *table)
{
	zend_string *key;

	ZEND_HASH_FOREACH_STR_KEY(table, key) {
		return key;
	} ZEND_HASH_FOREACH_END();
	return NULL;
}

/* The main script is the first included file, unless another one is prepended. Code from the command line has no
 * file. */
void tick_snapshot_take_script(struct tick_snapshot *m)
{
	const char *path = SG(request_info).path_translated;
	HashTable *files = &EG(included_files);
	zval *entry = path ? zend_hash_str_find(files, path, strlen(path)) : NULL;
	zend_string *name = entry ? ((Bucket *)entry)->key : first_key(files);

	if (!name)
		return;
	STROBE_ASSERT(m->returned_count < TICK_NOTE_DEPTH);
	m->returned_ops[m->returned_count] = NULL;
	m->returned[m->returned_count++] = placeholder_of_file(m, name);
}

/* Finds a function that was running at the tick and has returned since; NULL if it is not in PHP's tables. A noted
 * address is never dereferenced, since the memory may have been reused. */
static const zend_function *find_returned(struct found_functions *found, struct tick_snapshot *m, const struct noted_call *call)
{
	const zend_function *f;

	if (call->file)
		return find_file(m, call->file);
	if (!call->code)
		return NULL;
	f = is_cached(found, call) ? found->at[slot_of(call)].function : NULL;
	if (!f)
		f = find_definition_near(m, call->code);
	if (!f)
		f = with_code(find_closure(call->function), call->code);
	if (!f)
		f = search_tables(found, call);
	if (f && ZEND_USER_CODE(f->type) && function_is_closure(f) && f->common.scope != call->scope)
		return placeholder_of_closure(m, f, call->scope);
	return f;
}

/* Whether the function was already searched without result. */
static bool was_missing(const struct noted_call *call)
{
	const zend_class_entry *ce = call->scope && call->code ? find_class(call->scope) : NULL;
	struct name name;

	return ce && ce->type == ZEND_USER_CLASS && !(ce->ce_flags & ZEND_ACC_ENUM) && read_name(call->name, &name) &&
	       !look_up((HashTable *)&ce->function_table, &name);
}

static bool is_noted(const zend_execute_data *frame, const struct noted_call *call)
{
	if (frame != call->frame || (frame && call->function && frame->func != call->function))
		return false;
	return !frame || !call->code || !frame->func || code_of(frame->func) == call->code;
}

/* Another call of the same function, such as the next step of a fiber, may have a frame at the same address, so the
 * caller is compared. */
static bool is_call(const zend_execute_data *frame, const struct tick_note *note, unsigned i)
{
	const struct noted_call *call = &note->calls[i];

	return is_noted(frame, call) && (i + 1 == note->depth || is_noted(frame->prev_execute_data, call + 1));
}

static zend_execute_data *find_frame(zend_execute_data *current, const struct tick_note *note, unsigned i)
{
	for (int n = 0; current && n < LOOK_BELOW; n++, current = current->prev_execute_data)
		if (is_call(current, note, i))
			return current;
	return NULL;
}

void tick_snapshot_find(struct tick_snapshot *m, const struct tick_note *note, zend_execute_data *current, struct found_functions *found)
{
	const zend_function *caller;
	zend_execute_data *frame = NULL;
	unsigned i;

	m->frame = current;
	m->returned_count = m->noted_count = 0;
	for (i = 0; i < note->depth && !frame; i++)
		frame = find_frame(current, note, i);
	if (!frame)
		return;
	m->frame = frame;
	m->noted = &note->calls[i - 1];
	m->noted_count = note->depth - (i - 1);
	STROBE_ASSERT(m->noted_count > 0 && m->noted->frame == frame);
	caller = frame->func;
	for (i--; i-- > 0;) {
		const zend_function *f;

		/* The generator it represents can no longer be reached once the one it delegates to has returned. */
		if (note->calls[i].placeholder)
			break;
		if (!note->calls[i].function)
			continue;
		f = find_returned(found, m, &note->calls[i]);
		if (f ? function_is_missing(f) : was_missing(&note->calls[i]))
			continue;
		if (!f || ((!note->sure || note->calls[i].file) && caller && !call_site_exists(&found->sites, caller, f)))
			break;
		STROBE_ASSERT(m->returned_count < TICK_NOTE_DEPTH);
		m->returned_ops[m->returned_count] = note->calls[i].op;
		caller = m->returned[m->returned_count++] = f;
	}
}
