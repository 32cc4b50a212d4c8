/* label_sets.h: the sets of labels that held when samples were taken, numbered.
 *
 * A label may change ten thousand times a second; a set gets a number only when a sample is taken under it. The number
 * is that of the trie's root below which these samples lie. All memory is mapped once, so nothing is allocated while a
 * sample is taken.
 */
#ifndef STROBE_LABEL_SETS_H
#define STROBE_LABEL_SETS_H

#include "request_labels.h"

#define LABEL_SETS 64u

struct label_sets;

/* Gets the memory (used only as far as needed); NULL if there is none. */
struct label_sets *label_sets_map(void);

/* Unmaps it; NULL is fine. Always returns NULL. */
struct label_sets *label_sets_unmap(struct label_sets *s);

/* The number of a set with these labels, which is added if it is new; NULL stands for no labels. Returns LABEL_SETS if it
 * is new and there is no room: send the samples so far, and empty this. */
unsigned label_sets_number(struct label_sets *s, const struct request_labels *l);

/* Sets that have a number, and one of them. */
unsigned label_sets_count(const struct label_sets *s);
const struct request_labels *label_sets_get(const struct label_sets *s, unsigned number);

/* Makes `to` a copy of the sets of another thread, which may be gone at any moment. False if they could not be read. */
bool label_sets_copy(struct label_sets *to, const struct label_sets *from);

void label_sets_empty(struct label_sets *s);

#endif
