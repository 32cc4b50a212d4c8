/* label_sets.h: numbers the sets of labels under which samples were taken.
 *
 * A label may change ten thousand times a second, so a set gets a number only when a sample is taken under it. The
 * number is that of the trie's root for these samples. All memory is mapped once, so nothing is allocated while a
 * sample is taken.
 */
#ifndef STROBE_LABEL_SETS_H
#define STROBE_LABEL_SETS_H

#include "request_labels.h"

#define LABEL_SETS 64u

struct label_sets;

/* Maps the memory, which is used only as needed; NULL without memory. */
struct label_sets *label_sets_map(void);

/* Unmaps it; NULL is fine. Always returns NULL. */
struct label_sets *label_sets_unmap(struct label_sets *s);

/* Returns the number of a set with these labels, added if new; NULL means no labels. Returns LABEL_SETS if it is new
 * and there is no room: then send the samples so far, and empty the table. */
unsigned label_sets_number(struct label_sets *s, const struct request_labels *l);

/* Sets that have a number, and one of them. */
unsigned label_sets_count(const struct label_sets *s);
const struct request_labels *label_sets_get(const struct label_sets *s, unsigned number);

/* Copies the sets of another thread, which may end at any moment. False if they could not be read. */
bool label_sets_copy(struct label_sets *to, const struct label_sets *from);

void label_sets_empty(struct label_sets *s);

#endif
