/* function_table.c: finds and creates records of functions. */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "function_table.h"

#include "closure_home.h"
#include "function_id.h"
#include "grow.h"

#include <stdlib.h>

#define PINNED_MAX	(1u << 20)	/* bytes of closures' code that is kept alive, which memory_limit counts */

static uint64_t mix(uint64_t h, uint64_t v)
{
	h = (h ^ v) * 0xff51afd7ed558ccdull;
	return h ^ (h >> 33);
}

static uint64_t string_hash(zend_string *s)
{
	return s ? zend_string_hash_val(s) : 0;
}

static uint64_t identity_hash(const struct call_function *f)
{
	uint64_t h = mix(f->kind, f->line);

	h = mix(h, string_hash(f->name));
	h = mix(h, string_hash(f->class_name));
	h = mix(h, string_hash(f->written_in) + f->order);
	return mix(h, string_hash(f->file));
}

static bool strings_equal(const zend_string *a, const zend_string *b)
{
	return a == b || (a && b && zend_string_equal_content(a, b));
}

static bool same_identity(const struct call_function *a, const struct call_function *b)
{
	return a->kind == b->kind && a->line == b->line && a->internal == b->internal && a->closure == b->closure &&
	       a->order == b->order && strings_equal(a->name, b->name) &&
	       strings_equal(a->class_name, b->class_name) && strings_equal(a->written_in, b->written_in) &&
	       strings_equal(a->file, b->file);
}

static void insert(struct function_table *t, struct function *f)
{
	uint32_t i;

	STROBE_ASSERT(t->count * 2 <= t->slots);		/* searches end at a free slot */
	for (i = function_slot_of(f->identity_hash, t->slots); t->by_identity[i]; i = (i + 1) & (t->slots - 1))
		;
	t->by_identity[i] = f;
	if (f->key == FUNCTION_NO_KEY)
		return;
	for (i = function_slot_of(f->key, t->slots); t->by_key[i].number; i = (i + 1) & (t->slots - 1))
		;
	t->by_key[i] = (struct function_slot){ f->key, f->number + 1 };
}

/* Both tables stay at most half full, so that searches end. */
static bool make_room(struct function_table *t)
{
	uint32_t slots = t->slots ? t->slots * 4 : 256;
	void *tables;

	if (t->count == t->capacity && !grow(&t->all, &t->capacity, sizeof(*t->all)))
		return false;
	if ((t->count + 1) * 2 <= t->slots)
		return true;
	tables = arena_calloc(&t->memory, (size_t)slots * (sizeof(*t->by_key) + sizeof(*t->by_identity)));
	if (!tables)
		return false;
	t->slots = slots;
	t->by_key = tables;
	t->by_identity = (struct function **)(t->by_key + slots);
	for (uint32_t i = 0; i < t->count; i++)
		insert(t, t->all[i]);
	return true;
}

/* Returns the first record with that identity, or NULL. */
static struct function *find_identity(const struct function_table *t, const struct call_function *id, uint64_t hash)
{
	if (t->slots)
		for (uint32_t i = function_slot_of(hash, t->slots); t->by_identity[i]; i = (i + 1) & (t->slots - 1))
			if (t->by_identity[i]->identity_hash == hash && same_identity(&t->by_identity[i]->id, id))
				return t->by_identity[i];
	return NULL;
}

/* `alike` is the first record with that identity, if any. */
static struct function *make_function(struct function_table *t, uintptr_t key, const struct call_function *id, uint64_t hash,
				      struct function *alike)
{
	struct function *f;

	if (!make_room(t))
		return NULL;
	f = arena_calloc(&t->memory, sizeof(*f));
	if (!f)
		return NULL;
	STROBE_ASSERT(t->count < t->capacity && (!alike || alike->first == alike));
	f->id = *id;
	f->key = key;
	f->identity_hash = hash;
	f->first = alike ? alike : f;
	if (alike)
		f->ambiguous = alike->ambiguous = true;
	if (id->name)
		zend_string_addref(id->name);
	if (id->class_name)
		zend_string_addref(id->class_name);
	if (id->written_in)
		zend_string_addref(id->written_in);
	if (id->file)
		zend_string_addref(id->file);
	f->number = t->count;
	t->all[t->count++] = f;
	insert(t, f);
	return f;
}

struct function *function_table_identity(struct function_table *t, const struct call_function *id)
{
	uint64_t hash = identity_hash(id);
	struct function *f = find_identity(t, id, hash);

	if (!f)
		return make_function(t, FUNCTION_NO_KEY, id, hash, NULL);
	if (f->key != FUNCTION_NO_KEY)
		f->ambiguous = true;
	return f;
}

void function_describe(const zend_function *f, struct call_function *id)
{
	*id = (struct call_function){ .kind = CALL_FUNCTION, .name = f->common.function_name };
	if (id->name && f->common.scope)
		id->class_name = f->common.scope->name;
	if (!ZEND_USER_CODE(f->type)) {
		id->internal = true;
		return;
	}
	id->file = f->op_array.filename;
	if (!id->name) {
		id->kind = f->type == ZEND_EVAL_CODE ? CALL_EVAL : CALL_FILE;
		return;
	}
	id->closure = function_is_closure(f);
	id->line = f->op_array.line_start;
	id->end_line = f->op_array.line_end;
	if (id->closure) {
		struct closure_home home = closure_home(f);

		id->written_in = home.scope ? home.scope->name : NULL;
		id->order = home.order;
	}
}

/* Returns the approximate size of a function's code, including closures in it. */
static size_t code_bytes(const zend_op_array *code)
{
	size_t bytes = sizeof(*code) + code->last * sizeof(zend_op) + (size_t)code->last_literal * sizeof(zval) +
		(size_t)code->last_var * sizeof(zend_string *);

	for (uint32_t i = 0; i < code->num_dynamic_func_defs; i++)
		bytes += code_bytes(code->dynamic_func_defs[i]);
	return bytes;
}

/* Keeps the code of a closure alive with a copy that counts as a user. */
static bool pin(struct function_table *t, struct function *f, const zend_op_array *code)
{
	zend_op_array *copy = malloc(sizeof(*copy));

	if (!copy)
		return false;
	memcpy(copy, code, sizeof(*copy));
	/* These belong to the closure object, and are freed with it. */
	copy->fn_flags &= ~ZEND_ACC_HEAP_RT_CACHE;
	copy->static_variables = NULL;
	function_add_ref((zend_function *)copy);
	f->pinned = copy;
	t->pinned += code_bytes(code);
	return true;
}

/* The key may get another meaning, so the record must no longer be found by it. */
static void forget_key(struct function_table *t, struct function *f)
{
	uint32_t i = function_slot_of(f->key, t->slots);

	STROBE_ASSERT(f->key != FUNCTION_NO_KEY);
	while (t->by_key[i].number != f->number + 1)
		i = (i + 1) & (t->slots - 1);
	t->by_key[i].key = f->key = FUNCTION_NO_KEY;
}

uint32_t function_table_lasting(struct function_table *t, const zend_function *code)
{
	uintptr_t key = function_key(code);
	bool may_go = ZEND_USER_CODE(code->type) && (code->common.fn_flags & ZEND_ACC_CLOSURE) && code->op_array.refcount;
	struct call_function id;
	struct function *f;
	uint64_t hash;

	if (t->slots)
		for (uint32_t i = function_slot_of(key, t->slots); t->by_key[i].number; i = (i + 1) & (t->slots - 1))
			if (t->by_key[i].key == key)
				return t->by_key[i].number - 1;
	/* The code of a preload script is destroyed when the script has ended, even if it is still referenced. */
	if (may_go && (t->pinned + code_bytes(&code->op_array) > PINNED_MAX || (CG(compiler_options) & ZEND_COMPILE_PRELOAD)))
		return FUNCTION_NONE;
	function_describe(code, &id);
	hash = identity_hash(&id);
	f = make_function(t, key, &id, hash, find_identity(t, &id, hash));
	if (f && may_go && !pin(t, f, &code->op_array)) {
		forget_key(t, f);
		return FUNCTION_NONE;
	}
	if (f && id.internal && t->annotation && t->annotation->applies(code))
		f->annotated = f->ambiguous = true;
	return f ? f->number : FUNCTION_NONE;
}

struct function *function_table_annotated(struct function_table *t, struct function *f, zend_execute_data *frame)
{
	zend_string *suffix = t->annotation->suffix(frame), *name;
	struct call_function id = f->id;

	STROBE_ASSERT(f->annotated && f->id.internal);
	if (!suffix)
		return f;
	name = zend_string_concat2(ZSTR_VAL(id.name), ZSTR_LEN(id.name), ZSTR_VAL(suffix), ZSTR_LEN(suffix));
	id.name = name;
	f = function_table_identity(t, &id);
	zend_string_release(name);
	zend_string_release(suffix);
	return f;
}

static void forget_function(struct function *f)
{
	if (f->id.name)
		zend_string_release(f->id.name);
	if (f->id.class_name)
		zend_string_release(f->id.class_name);
	if (f->id.written_in)
		zend_string_release(f->id.written_in);
	if (f->id.file)
		zend_string_release(f->id.file);
	if (f->pinned) {
		destroy_op_array(f->pinned);
		free(f->pinned);
	}
}

void function_table_done(struct function_table *t)
{
	for (uint32_t i = 0; i < t->count; i++) {
		STROBE_ASSERT(t->all[i]->number == i);
		forget_function(t->all[i]);
	}
	free(t->all);
	arena_release(&t->memory);
	memset(t, 0, sizeof(*t));
}
