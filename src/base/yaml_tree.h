/* yaml_tree.h: a YAML file as a small tree with the file and line of each value.
 *
 * For configuration: one document of mappings, sequences and scalars. Scalars are text; their
 * readers decide the type. An alias (*x) is the same node as its anchor (&x), so a node may occur in several places.
 *
 * Refused with a sentence: invalid YAML; more than one document; a duplicate key, or one that is not a scalar; merge keys
 * (<<); tags other than those of plain types (!!str, !!int, …); a scalar with a NUL in it; an alias within its own
 * anchor; and anything above these caps, where aliases count as if expanded:
 */
#ifndef BASE_YAML_TREE_H
#define BASE_YAML_TREE_H

#include "arena.h"
#include "err.h"
#include <stdbool.h>
#include <stdint.h>

#define YAML_BYTES	(1024u * 1024)
#define YAML_DEPTH	32u
#define YAML_NODES	20000u
#define YAML_ANCHORS	100u

enum yaml_kind { YAML_SCALAR, YAML_SEQUENCE, YAML_MAPPING };

struct yaml_item {
	const struct yaml_node *key;		/* in a mapping, always a scalar; NULL in a sequence */
	const struct yaml_node *value;
	struct yaml_item *next;
};

struct yaml_node {
	enum yaml_kind kind;
	const char *file;			/* file name, for errors */
	unsigned line, column;			/* from 1 */

	const char *text;			/* a scalar's UTF-8; else NULL */
	bool is_quoted;				/* so that quoted "null" and "yes" are strings */
	const struct yaml_item *first;		/* in the order of the file; NULL: empty */
	unsigned count;

	unsigned weight, height;		/* private: number of nodes, and levels, with aliases expanded */
};

struct yaml_tree {
	const struct yaml_node *root;		/* for an empty file, a scalar for which yaml_is_null is true */
	struct arena memory;
};

/* Parses a file; `name` is used in errors. The caller frees with yaml_tree_done, also after an error. */
int yaml_tree_parse(const char *name, const void *bytes, size_t n, struct yaml_tree *ret, struct err *err);
int yaml_tree_read(const char *path, struct yaml_tree *ret, struct err *err);
void yaml_tree_done(struct yaml_tree *t);

/* Returns the value of a mapping's key; NULL if there is none, or if `n` is NULL or not a mapping. */
const struct yaml_node *yaml_find(const struct yaml_node *n, const char *key);

bool yaml_is_null(const struct yaml_node *n);		/* empty, ~ or null; NULL is one, too */

/* These take the purpose of the value ("redis: port"; NULL in yaml_want for the whole file), and set an error with
 * file and line if it is another kind of value. The text lives as long as the tree. */
int yaml_want(const struct yaml_node *n, enum yaml_kind kind, const char *what, struct err *err);
int yaml_get_text(const struct yaml_node *n, const char *what, const char **ret, struct err *err);
int yaml_get_number(const struct yaml_node *n, const char *what, int64_t min, int64_t max, int64_t *ret,
		    struct err *err);
int yaml_get_bool(const struct yaml_node *n, const char *what, bool *ret, struct err *err);

/* Returns -EINVAL with "file:line: …", for readers of trees. */
int yaml_error(const struct yaml_node *n, struct err *err, const char *format, ...) _printf_(3, 4);

#endif
