/* tree_export.h: exports trees to other formats, and as tables.
 *
 * All are pure: a tree and a metric in, a PHP value out. Stacks are as in tree_walk.h.
 */
#ifndef STROBE_TREE_EXPORT_H
#define STROBE_TREE_EXPORT_H

#include "tree_values.h"

/* Folded stacks, one "a;b;c 12" per line, values above 0 only. Bytes that would change a stack become "_". */
zend_string *export_folded(const struct call_tree *t, int metric);

/* An array for json_encode: a file of https://www.speedscope.app with one sampled profile. Always UTF-8. */
void export_speedscope(const struct call_tree *t, int metric, zval *out);

/* Returns a gzipped profile.proto with all metrics, for pprof. */
zend_string *export_pprof(const struct call_tree *t);

/* Fills in xhprof's array: pairs of caller and callee, with files, compilation and lines of closures. False without
 * memory. */
bool export_xhprof(const struct call_tree *t, zval *out);

/* name => total */
void export_totals(const struct call_tree *t, zval *out);

/* One row per function, the most expensive first. */
void export_functions(const struct call_tree *t, zval *out);

#endif
