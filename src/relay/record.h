/* record.h: the files of the spool: one record after another, nothing between them.
 *
 *   offset  size  record
 *        0     4  magic "SPLR"
 *        4     1  version, 2
 *        5     1  kind: 1 entry (what becomes one entry of the stream)
 *                       2 part (one batch of the window that is still open)
 *                       3 ids (of batches that are in earlier windows)
 *        6     1  flags: 1 the last, 2 the first of the records that were written together
 *        7     1  zero
 *        8     8  sequence: of an entry its number in the spool, from 1
 *       16     8  window: of a part the one that it belongs to; of an entry the newest one that is in the spool with it
 *       24     8  when it was written, nanoseconds since 1970
 *       32     8  samples in it
 *       40     4  runs in it
 *       44     4  length of the body
 *       48     8  of an entry the instance of the spool, of a part the id of its batch
 *       56     8  XXH3 of the body
 *       64     8  samples in all records of its kind before it: since the spool was made, or in its window
 *       72     8  runs in them
 *       80     8  XXH3 of the 80 bytes before
 *       88        body: of entries and parts wire messages (wire/strobe_wire.h) in one frame of zstd; of ids eight bytes each
 *
 * Version 1 lacks the two sums: the hash of the 64 bytes before it stands at 64, and the body begins at 72. It is read,
 * and never written.
 *
 * All integers are little-endian. A record is whole if, checked in this order,
 *    1. there are 88 bytes, 72 of version 1,
 *    2. magic, version and kind are right and the hash of the header is that of its bytes,
 *    3. the length is at most RECORD_BODY and the body ends inside the file,
 *    4. the hash of the body is that of its bytes.
 *
 * A header can be trusted without its body (2), so the content of a damaged body is still counted; and the next intact
 * record tells how many samples and runs lie before it, so that of a damaged header is, too.
 */
#ifndef RELAY_RECORD_H
#define RELAY_RECORD_H

#include "buf.h"
#include "err.h"
#include <sys/types.h>

#define RECORD_HEADER	88u
#define RECORD_HEADER_1	72u		/* size in version 1 */
#define RECORD_BODY	(80u << 20)	/* a message of 64 MB that cannot be compressed, and some room */

enum record_kind { RECORD_ENTRY = 1, RECORD_PART = 2, RECORD_IDS = 3 };

struct record {
	enum record_kind kind;
	bool first, last;		/* in its group */
	uint64_t sequence, window;
	int64_t time_ns;
	uint64_t samples;
	uint32_t runs, size;		/* runs in the body, and its bytes */
	uint64_t owner;			/* instance or batch */
	uint64_t hash;			/* hash over the body */
	uint64_t samples_before, runs_before;
	bool has_sums;			/* false: version 1, and both are 0 */
};

/* The size of the header in the file, and of the whole record. */
static inline uint32_t record_header_size(const struct record *r)
{
	return r->has_sums ? RECORD_HEADER : RECORD_HEADER_1;
}

static inline off_t record_size(const struct record *r)
{
	return (off_t)record_header_size(r) + (off_t)r->size;
}

/* Fills in size and hash and writes the header. */
void record_seal(struct record *r, const void *body, size_t n, uint8_t header[RECORD_HEADER]);

/* Reads the header at `at` of a file of `end` bytes, by rules 1 to 3: 1 if there is one, 0 if not, -errno if it cannot
 * be read. */
int record_at(int fd, off_t at, off_t end, struct record *ret);

/* Returns the start of the next such record, at `from` or later; `end` if there is none. */
off_t record_find(int fd, off_t from, off_t end);

/* Returns the version of the record at `at` if it cannot be read here, as after a newer Strobe; else 0. */
unsigned record_foreign_version(int fd, off_t at, off_t end);

/* Reads the body behind the header at `at` into `ret`, replacing its content; -EBADMSG if rule 4 does not hold. */
int record_body(int fd, off_t at, const struct record *r, struct buf *ret);

/* Writes at `at`, continuing after short writes. Never -EFBIG or -EINVAL, which mean that a retry is useless: a process
 * limit on file sizes is -ENOSPC. */
int record_write(int fd, off_t at, const void *bytes, size_t n);

#endif
