/* file_tables.h: the two tables of calls between which the programs for file I/O alternate, and the system calls they count. */
#ifndef CAPTURE_FILE_TABLES_H
#define CAPTURE_FILE_TABLES_H

#include "bpf/file_event.h"
#include "err.h"
#include <stdbool.h>

struct file_tables;

/* `outer` is the map that holds the table in use, `first` and `second` the tables; the first one is in use. */
struct file_tables *file_tables_new(int outer, int first, int second);
struct file_tables *file_tables_free(struct file_tables *t);	/* NULL is fine; returns NULL */

/* Swaps the tables; returns once no program writes to the previous one any longer. */
int file_tables_turn(struct file_tables *t, struct err *err);

/* Reads and empties the table that is not in use. */
int file_tables_take(struct file_tables *t, void *data,
		     void (*take)(void *data, const struct file_key *key, const struct file_count *count), struct err *err);

/* Fills in the system calls of this architecture; with `sockets`, including those that only sockets have. */
void file_calls_choose(struct file_call calls[SYSTEM_CALLS], bool sockets);

#endif
