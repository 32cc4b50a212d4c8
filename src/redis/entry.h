/* entry.h: parses a stream entry, received by our listener through XADD or read from a Redis.
 *
 * An entry is a list of fields with values, any bytes both. It is one of these, checked in this order:
 *   1. a field `strobe`: one or more messages of wire/strobe_wire.h one after another, perhaps compressed by zstd, as
 *      relays send them, with `id` (16 hexadecimal digits: the batch, so that it counts once) and `host`,
 *   2. a field `line`, or else `message`, `stack` or `data`: folded lines, mostly one; the other fields are labels,
 *   3. one field of any name: folded lines.
 * Nothing else is an entry of ours. */
#ifndef REDIS_ENTRY_H
#define REDIS_ENTRY_H

#include "err.h"
#include "intern.h"
#include "labels.h"

#define ENTRY_BYTES_MAX	(64u * 1024 * 1024)	/* messages in an entry, also when they are unpacked */

struct entry {
	bool is_messages;		/* else lines */
	struct str body;		/* part of the entry, or of `unpacked` */
	uint64_t batch_id;		/* 0: none */
	struct labels labels;		/* beside those of messages */
	char *unpacked;			/* private */
};

/* `fields` are name, value, name, value …, `count` strings in all. Returns -EINVAL with a sentence for other
 * entries. `ret` is all zero before; the caller frees it with entry_done, also after an error. */
int entry_read(const struct str *fields, size_t count, struct entry *ret, struct err *err);
void entry_done(struct entry *e);

#endif
