/* call_sites.c: scans opcodes for the functions that they call. */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "call_sites.h"

#include "zend_compile.h"

void call_sites_clear(struct call_sites *s)
{
	if (s->any)
		memset(s, 0, sizeof(*s));
}

/* PHP calls these methods for operators, loops and destruction, without naming them in the caller's code. */
static bool is_called_by_itself(const zend_function *f)
{
	static const char *const names[] = { "offsetget", "offsetset", "offsetexists", "offsetunset", "count", "current", "key", "next",
					     "rewind", "valid", "getiterator" };
	const zend_string *name = f->common.function_name;

	if (f->common.fn_flags & ZEND_ACC_GENERATOR)
		return true;
	if (!name || !f->common.scope)
		return false;
	if (ZSTR_VAL(name)[0] == '$' || (ZSTR_VAL(name)[0] == '_' && ZSTR_VAL(name)[1] == '_'))
		return true;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (strcasecmp(ZSTR_VAL(name), names[i]) == 0)
			return true;
	return false;
}

/* Names may be qualified by a namespace, and in any case. */
static bool is_name_of(const zval *literal, const zend_function *f)
{
	const zend_string *name = f->common.function_name;
	const char *text, *tail;

	if (Z_TYPE_P(literal) != IS_STRING || !name)
		return false;
	text = Z_STRVAL_P(literal);
	if (strcasecmp(text, ZSTR_VAL(name)) == 0)
		return true;
	tail = strrchr(text, '\\');
	return tail && strcasecmp(tail + 1, ZSTR_VAL(name)) == 0;
}

/* Whether an object may have both methods, because one class extends the other. A closure can be bound to any
 * object. */
static bool may_share_this(const zend_function *caller, const zend_function *callee)
{
	const zend_class_entry *a = caller->common.scope, *b = callee->common.scope;

	if (!a || !b || (caller->common.fn_flags & ZEND_ACC_CLOSURE))
		return true;
	return instanceof_function(a, b) || instanceof_function(b, a);
}

static bool calls(const zend_op *op, const zend_function *caller, const zend_function *f)
{
	switch (op->opcode) {
	case ZEND_INIT_FCALL:
	case ZEND_INIT_FCALL_BY_NAME:
	case ZEND_INIT_NS_FCALL_BY_NAME:
		return is_name_of(RT_CONSTANT(op, op->op2), f);
	case ZEND_INIT_METHOD_CALL:
	case ZEND_INIT_STATIC_METHOD_CALL:
		/* Calls by $this, self, static and parent. */
		if (op->op1_type == IS_UNUSED && !may_share_this(caller, f))
			return false;
		return op->op2_type != IS_CONST || is_name_of(RT_CONSTANT(op, op->op2), f);
	case ZEND_INIT_DYNAMIC_CALL:
	case ZEND_INIT_USER_CALL:
		return true;
	case ZEND_INCLUDE_OR_EVAL:
		return !f->common.function_name;
	default:
		return false;
	}
}

static bool code_calls(const zend_function *caller, const zend_function *callee)
{
	const zend_op_array *a = &caller->op_array;

	/* Internal functions do not include files. */
	if (!ZEND_USER_CODE(caller->type))
		return callee->common.function_name || !ZEND_USER_CODE(callee->type);
	if (!a->opcodes || is_called_by_itself(callee))
		return true;
	for (uint32_t i = 0; i < a->last; i++)
		if (calls(&a->opcodes[i], caller, callee))
			return true;
	return false;
}

bool call_site_exists(struct call_sites *s, const zend_function *caller, const zend_function *callee)
{
	size_t slot = ((uintptr_t)caller >> 4 ^ (uintptr_t)callee >> 7) % CALL_SITES;

	/* Closures are freed, and others may reuse their memory. */
	if ((caller->common.fn_flags | callee->common.fn_flags) & ZEND_ACC_CLOSURE || !caller->common.function_name ||
	    !callee->common.function_name)
		return code_calls(caller, callee);
	if (s->at[slot].caller != caller || s->at[slot].callee != callee) {
		s->at[slot].caller = caller;
		s->at[slot].callee = callee;
		s->at[slot].exists = code_calls(caller, callee);
		s->any = true;
	}
	return s->at[slot].exists;
}
