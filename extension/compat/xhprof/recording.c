/* recording.c: starts and stops recordings of the xhprof family's APIs. */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "recording.h"

#include "delivery.h"

#include <assert.h>
#include <errno.h>

void recording_column(struct edge_format *format, const char *key, enum tree_column column)
{
	assert(format->column_count < EDGE_COLUMNS_MAX);
	format->columns[format->column_count++] = (struct edge_column){ key, column };
}

static unsigned metrics_for(const struct edge_format *format)
{
	static const unsigned metric_of[TREE_COLUMNS] = {
		[TREE_WALL_NS] = TRACE_WALL,
		[TREE_CPU_NS] = TRACE_CPU,
		[TREE_MEMORY_BYTES] = TRACE_MEMORY,
		[TREE_PEAK_BYTES] = TRACE_PEAK,
		[TREE_ALLOCATIONS] = TRACE_ALLOCATIONS,
		[TREE_FREES] = TRACE_ALLOCATIONS,
		[TREE_ALLOCATED_BYTES] = TRACE_ALLOCATIONS,
	};
	unsigned metrics = 0;

	for (unsigned i = 0; i < format->column_count; i++)
		metrics |= metric_of[format->columns[i].column];
	return metrics;
}

/* Returns the names to ignore as keys, or NULL. In an array, only elements with integer keys count. */
static HashTable *ignored_functions(const zval *options)
{
	zval *names, *name;
	zend_string *key;
	HashTable *set;

	if (!options || Z_TYPE_P(options) != IS_ARRAY)
		return NULL;
	names = zend_hash_str_find(Z_ARRVAL_P(options), ZEND_STRL("ignored_functions"));
	if (!names)
		return NULL;
	ZVAL_DEREF(names);
	if (Z_TYPE_P(names) != IS_ARRAY && Z_TYPE_P(names) != IS_STRING)
		return NULL;

	set = zend_new_array(8);
	if (Z_TYPE_P(names) == IS_STRING) {
		zend_hash_add_empty_element(set, Z_STR_P(names));
		return set;
	}
	ZEND_HASH_FOREACH_STR_KEY_VAL(Z_ARRVAL_P(names), key, name) {
		ZVAL_DEREF(name);
		if (!key && Z_TYPE_P(name) == IS_STRING)
			zend_hash_add_empty_element(set, Z_STR_P(name));
	} ZEND_HASH_FOREACH_END();
	return set;
}

static void forget(struct recording *r)
{
	edges_free(r->edges);
	r->edges = NULL;
	if (r->format.ignored)
		zend_array_destroy(r->format.ignored);
	r->format.ignored = NULL;
}

/* The arrays contain no paths, so a full tree is added to the sums and restarted. */
static void add_part(void *owner, const struct call_tree *t)
{
	struct recording *r = owner;

	r->folded_calls += t->folded_calls;
	if (r->edges && !edges_add(r->edges, t, false)) {
		edges_free(r->edges);
		r->edges = NULL;
	}
}

bool recording_start(struct recording *r, const struct edge_format *format, bool no_internals,
		     const struct trace_annotation *annotation, const zval *options)
{
	struct trace_options o = {
		.metrics = metrics_for(format),
		.no_internals = no_internals,
		.files = format->names->file,
		.loads = format->names->load,
		.annotation = annotation,
		.spill = add_part,
		.owner = r,
	};

	assert(!r->running);
	if (!tracer_available()) {
		php_error_docref(NULL, E_WARNING, TRACER_UNAVAILABLE);
		return false;
	}
	r->format = *format;
	r->format.ignored = ignored_functions(options);
	r->folded_calls = 0;
	r->edges = edges_new(&r->format);
	r->session = r->edges ? tracer_start(&o) : NULL;
	if (!r->session) {
		forget(r);
		php_error_docref(NULL, E_WARNING, "not enough memory for a trace");
		return false;
	}
	r->running = true;
	return true;
}

bool recording_start_sampled(struct recording *r, const struct sampled_options *options)
{
	int error;

	assert(!r->running);
	r->sampled = sampled_start(options, &error);
	if (!r->sampled) {
		const char *why = error == ENOTSUP ? delivery_reason() : NULL;

		php_error_docref(NULL, E_WARNING, "cannot start its timer: %s", why ? why : strerror(error));
		return false;
	}
	r->running = true;
	return true;
}

/* Creates the recorded array; empty if there is not enough memory. */
static void export(struct recording *r, struct call_tree *last, zval *ret)
{
	bool complete = last && r->edges && edges_add(r->edges, last, true);

	r->folded_calls += last ? last->folded_calls : 0;
	call_tree_free(last);
	array_init(ret);
	if (!complete)
		return;
	/* The array counts against memory_limit, which ends the request by longjmp. Shutdown functions still run
	 * after that, and need the remaining memory. */
	zend_try {
		edges_export(r->edges, ret);
	} zend_catch {
		zend_array_destroy(Z_ARR_P(ret));
		ZVAL_NULL(ret);
		forget(r);
		zend_bailout();
	} zend_end_try();
	tracer_warn_of_folded(r->folded_calls);
}

void recording_stop(struct recording *r, zval *ret)
{
	struct call_tree *last;

	assert(r->running);
	r->running = false;
	if (r->sampled) {
		sampled_stop(r->sampled, ret);
		r->sampled = NULL;
		return;
	}
	last = tracer_stop(r->session);
	r->session = NULL;
	export(r, last, ret);
	forget(r);
}

void recording_drop(struct recording *r)
{
	r->running = false;
	sampled_drop(r->sampled);
	r->sampled = NULL;
	tracer_drop(r->session);
	r->session = NULL;
	forget(r);
}
