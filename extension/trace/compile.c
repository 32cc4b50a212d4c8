/* compile.c: records compilations as calls of their own.
 *
 * PHP compiles through two pointers. They are replaced once per process, when the first request begins: opcache has
 * installed its own by then, so that a cached script shows its actual cost.
 */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "capture.h"

#include "zend_compile.h"

#include <pthread.h>

static zend_op_array *(*next_compile_file)(zend_file_handle *file, int type);
#if PHP_VERSION_ID >= 80200
static zend_op_array *(*next_compile_string)(zend_string *source, const char *name, zend_compile_position position);
#endif
static bool installed;

static bool is_traced(const struct capture *c)
{
#ifdef ZTS
	if (!c)
		return false;
#endif
	return c->active && c->loads;
}

/* Pushes a compilation. Returns its depth, 0 if it is not recorded. */
static size_t compilation_begins(struct capture *c, enum call_kind kind, zend_string *name)
{
	struct call_function id = { .kind = kind, .file = name };
	struct function *f = function_table_identity(&c->nodes.functions, &id);
	struct node *n;

	if (!f)
		return 0;
	n = nodes_child_of(&c->nodes, c->top->node, (uintptr_t)f, f);
	n->calls++;
	return capture_push(c, n, NULL) ? (size_t)(c->top - c->stack) : 0;
}

/* Pops it, with anything that a fatal error has left above it. */
static void compilation_ends(struct capture *c, size_t depth)
{
	if (!depth || !c->active)
		return;
	while ((size_t)(c->top - c->stack) >= depth)
		capture_pop(c);
	capture_mark(c);
}

static zend_op_array *compile_traced_file(zend_file_handle *file, int type)
{
	struct capture *c = CAPTURE;
	zend_op_array *result;
	zend_string *name;
	size_t depth;

	if (!is_traced(c))
		return next_compile_file(file, type);
	name = file->opened_path ? file->opened_path : file->filename;
	depth = name ? compilation_begins(c, CALL_LOAD, name) : 0;
	result = next_compile_file(file, type);
	compilation_ends(c, depth);
	return result;
}

static zend_op_array *compile_traced_string(zend_string *source, const char *filename, zend_compile_position position)
{
	struct capture *c = CAPTURE;
	zend_op_array *result;
	zend_string *name;
	size_t depth;

	if (!is_traced(c))
		return next_compile_string(source, filename, position);
	name = zend_string_init(filename, strlen(filename), false);
	depth = compilation_begins(c, CALL_LOAD_EVAL, name);
	zend_string_release(name);
	result = next_compile_string(source, filename, position);
	compilation_ends(c, depth);
	return result;
}

static void install(void)
{
	STROBE_ASSERT(!installed);		/* otherwise we would call ourselves */
	next_compile_file = zend_compile_file;
	zend_compile_file = compile_traced_file;
	next_compile_string = zend_compile_string;
	zend_compile_string = compile_traced_string;
	installed = true;
}

void compile_request_start(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	if (observe_available())
		pthread_once(&once, install);
}

void compile_shutdown(void)
{
	if (!installed)
		return;
	if (zend_compile_file == compile_traced_file)
		zend_compile_file = next_compile_file;
	if (zend_compile_string == compile_traced_string)
		zend_compile_string = next_compile_string;
}
