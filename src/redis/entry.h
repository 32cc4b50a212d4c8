/* entry.h: parses a stream entry, received by our listener through XADD or read from a Redis.
 *
 * An entry is a list of fields with values, both any bytes. It must be one of these, checked in this order:
 *   1. a field `strobe`: one or more consecutive messages of wire/strobe_wire.h, possibly compressed with zstd, as
 *      sent by relays, with `id` (16 hexadecimal digits: the batch, for deduplication) and `host`,
 *   2. a field `line`, or else `message`, `stack` or `data`: folded lines, usually one; the other fields are labels,
 *   3. one field of any name: folded lines.
 * Anything else is not one of our entries. */
#ifndef REDIS_ENTRY_H
#define REDIS_ENTRY_H

#include "err.h"
#include "intern.h"
#include "labels.h"

#define ENTRY_BYTES_MAX	(64u * 1024 * 1024)	/* size of the messages in an entry, also after unpacking */

struct entry {
	bool is_messages;		/* else lines */
	struct str body;		/* points into the entry, or `unpacked` */
	uint64_t batch_id;		/* 0: none */
	struct labels labels;		/* labels beside those in messages */
	char *unpacked;			/* private */
};

/* `fields` are name, value, name, value …, `count` strings in all. Returns -EINVAL with a sentence for other entries.
 * `ret` must be zeroed; the caller frees it with entry_done, also after an error. */
int entry_read(const struct str *fields, size_t count, struct entry *ret, struct err *err);
void entry_done(struct entry *e);

#endif
