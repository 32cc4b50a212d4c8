/* ledger.h: a file of records with checksums, of which a crash can only truncate the last record.
 *
 * Records are only appended. When most of them no longer matter, a new file with the rest takes the place of the old
 * one. The content of a record is its owner's affair.
 *
 *   offset  size  record
 *        0     4  length of the body, little-endian
 *        4     8  XXH3 of the body, little-endian
 *       12        body
 *
 * A record that was cut off, or damaged, ends the file. One thread at a time; who else may use the file is the owner's
 * affair, too (a lock beside it).
 */
#ifndef BASE_LEDGER_H
#define BASE_LEDGER_H

#include "buf.h"
#include "err.h"

#define LEDGER_HEADER	12u
#define LEDGER_MAX	((size_t)256 << 20)	/* a file above this is not ours */

struct ledger;

typedef void ledger_read_fn(void *data, const uint8_t *body, size_t n);

/* Makes the file if there is none (0600), hands each record to `read`, the oldest first, and removes what is behind the
 * last whole one: `*ret_cut` bytes. -EFBIG for a file above LEDGER_MAX. */
int ledger_open(const char *path, ledger_read_fn *read, void *data, size_t *ret_cut, struct ledger **ret,
		struct err *err);
struct ledger *ledger_close(struct ledger *l);		/* NULL is fine; returns NULL */

size_t ledger_size(const struct ledger *l);		/* size of the file in bytes */

/* With `durable` it survives a loss of power when this returns 0. After a failure it is not there, nor is a part of
 * it. */
int ledger_append(struct ledger *l, const struct buf *body, bool durable, struct err *err);

/* Appends to `out` what ledger_replace takes. */
void ledger_put(struct buf *out, const void *body, size_t n);

/* A file with these records in place of the old one. After an error or a crash it is one of the two, and
 * whole. */
int ledger_replace(struct ledger *l, const struct buf *records, struct err *err);

#endif
