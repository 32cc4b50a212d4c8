/* recording.c: starts and stops what the APIs of the xhprof family record. */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "recording.h"

#include <assert.h>

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

/* The names to ignore as keys, NULL if there are none. In an array, only what stands under a number is one. */
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

static void forget_ignored(struct recording *r)
{
	if (r->format.ignored)
		zend_array_destroy(r->format.ignored);
	r->format.ignored = NULL;
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
	};

	assert(!r->running);
	if (!tracer_available()) {
		php_error_docref(NULL, E_WARNING, TRACER_UNAVAILABLE);
		return false;
	}
	r->format = *format;
	r->format.ignored = ignored_functions(options);
	r->session = tracer_start(&o);
	if (!r->session) {
		forget_ignored(r);
		php_error_docref(NULL, E_WARNING, "found no memory for a trace");
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
		php_error_docref(NULL, E_WARNING, "cannot start its timer: %s", strerror(error));
		return false;
	}
	r->running = true;
	return true;
}

static void free_tree(struct recording *r)
{
	call_tree_free(r->tree);
	r->tree = NULL;
}

void recording_stop(struct recording *r, zval *ret)
{
	assert(r->running);
	if (r->sampled) {
		sampled_stop(r->sampled, ret);
		r->sampled = NULL;
		r->running = false;
		return;
	}
	r->tree = tracer_stop(r->session);
	r->session = NULL;
	r->running = false;
	if (r->tree)
		edges_build(ret, r->tree, &r->format);
	else
		array_init(ret);
	free_tree(r);
	forget_ignored(r);
}

void recording_drop(struct recording *r)
{
	r->running = false;
	sampled_drop(r->sampled);
	r->sampled = NULL;
	tracer_drop(r->session);
	r->session = NULL;
	free_tree(r);
	forget_ignored(r);
}
