/* push_text.h: the forms without a schema that Pyroscope's /ingest takes, of one value per stack.
 *
 *	folded	"root;…;leaf 12" a line
 *	lines	"root;…;leaf" a line, each of which counts 1
 *	trie	a node: varint size of a name, the name, varint value, varint number of children, and these; the names
 *		on the way to a value, concatenated, are the stack "root;…;leaf"
 *	tree	the same, where each name is a frame, and the root has none
 */
#ifndef EXCHANGE_PUSH_TEXT_H
#define EXCHANGE_PUSH_TEXT_H

#include "push_name.h"

/* Each adds its values to the type's column in `to`. -EINVAL with a sentence for damaged bytes, which reject the
 * whole message; -E2BIG above a limit. */
int push_folded(struct pushed *p, struct profile *to, const struct push_type *t, struct str text, bool counted, struct err *err);
int push_trie(struct pushed *p, struct profile *to, const struct push_type *t, struct str bytes, struct err *err);
int push_tree(struct pushed *p, struct profile *to, const struct push_type *t, struct str bytes, struct err *err);

#endif
