/* source_entry.h: hands over what an entry of a stream holds (redis/entry.h). */
#ifndef COLLECT_SOURCE_ENTRY_H
#define COLLECT_SOURCE_ENTRY_H

#include "intern.h"
#include "source.h"

/* `fields` are name, value, name, value …, `count` strings in all. Labels of the entry come before those of `about`,
 * its batch id replaces that of `about`. Returns how many messages and lines were accepted; if that is 0, the entry is
 * counted as rejected, `err` says why, and an entry with an ack token is the caller's to acknowledge. */
size_t source_entry(struct source *s, struct message_metadata about, const struct str *fields, size_t count,
		    struct err *err);

#endif
