/* ledger.h: a file of records with checksums; a crash can only truncate the last record.
 *
 * Records are only appended. When most of them are obsolete, a new file with the rest replaces the old one. The owner
 * defines the content of records.
 *
 *   offset  size  record
 *        0     4  length of the body, little-endian
 *        4     8  XXH3 of the body, little-endian
 *       12        body
 *
 * A truncated or damaged record ends the file. Only one thread may use it at a time; the owner must keep others from
 * using the file (with a separate lock).
 */
#ifndef BASE_LEDGER_H
#define BASE_LEDGER_H

#include "buf.h"
#include "err.h"

#define LEDGER_HEADER	12u
#define LEDGER_MAX	((size_t)256 << 20)	/* larger files are not ours */

struct ledger;

typedef void ledger_read_fn(void *data, const uint8_t *body, size_t n);

/* Creates the file if it does not exist (0600), passes each record to `read`, oldest first, and removes anything
 * after the last complete one: `*ret_cut` bytes. Returns -EFBIG for a file above LEDGER_MAX. */
int ledger_open(const char *path, ledger_read_fn *read, void *data, size_t *ret_cut, struct ledger **ret,
		struct err *err);
struct ledger *ledger_close(struct ledger *l);		/* NULL is fine; returns NULL */

size_t ledger_size(const struct ledger *l);		/* size of the file in bytes */

/* Appends a record. With `durable` it survives a power failure once this returns 0. After an error the file has no
 * part of it. */
int ledger_append(struct ledger *l, const struct buf *body, bool durable, struct err *err);

/* Appends a record to the argument of ledger_replace. */
void ledger_put(struct buf *out, const void *body, size_t n);

/* Replaces the file by one with these records. After an error or a crash it is either the old or the new one,
 * complete. */
int ledger_replace(struct ledger *l, const struct buf *records, struct err *err);

#endif
