/* pack_reader.h: packed bytes (pack.h) of a row, read sequentially, without holding all of them in memory.
 *
 * The row is read in pieces, and returned in pieces of the caller's size.
 */
#ifndef STORE_PACK_READER_H
#define STORE_PACK_READER_H

#include "err.h"
#include <sqlite3.h>
#include <stdint.h>

struct pack_reader;

/* Reads column `column` of table `table` in row `row`; -EBADMSG, without a sentence, if it is not packed bytes. */
int pack_reader_new(sqlite3 *db, const char *path, const char *table, const char *column, int64_t row,
		    struct pack_reader **ret, struct err *err);
struct pack_reader *pack_reader_free(struct pack_reader *r);	/* NULL is fine; returns NULL */

uint64_t pack_reader_left(const struct pack_reader *r);		/* bytes that can still be read */

/* Reads `n` bytes. -EBADMSG, without a sentence, if there are fewer. */
int pack_reader_read(struct pack_reader *r, void *to, size_t n, struct err *err);

#endif
