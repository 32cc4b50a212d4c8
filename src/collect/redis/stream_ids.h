/* stream_ids.h: ids of a stream's entries, and a set of them that grows and shrinks with the entries in flight. */
#ifndef COLLECT_STREAM_IDS_H
#define COLLECT_STREAM_IDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STREAM_ID_TEXT	42u			/* "18446744073709551615-18446744073709551615" and a NUL */

/* When Redis was given the entry, in milliseconds since 1970 (or what its writer said), and a number behind it. */
struct stream_id {
	uint64_t ms, seq;
};

/* "1700000000000-3"; false for anything else. */
bool stream_id_parse(const char *text, size_t n, struct stream_id *ret);

/* Returns its length; `text` has STREAM_ID_TEXT bytes. */
size_t stream_id_format(struct stream_id id, char *text);

/* Below 0, 0 or above as a comes before, is, or comes after b. */
static inline int stream_id_compare(struct stream_id a, struct stream_id b)
{
	if (a.ms != b.ms)
		return a.ms < b.ms ? -1 : 1;
	return a.seq < b.seq ? -1 : a.seq > b.seq;
}

/* All zero is an empty set. No entry has the id 0-0. */
struct stream_id_set {
	struct stream_id *slots;
	size_t count, capacity;
};

void stream_id_set_done(struct stream_id_set *s);
bool stream_id_set_add(struct stream_id_set *s, struct stream_id id);		/* false: it was there */
bool stream_id_set_remove(struct stream_id_set *s, struct stream_id id);	/* false: it was not */
bool stream_id_set_has(const struct stream_id_set *s, struct stream_id id);

#endif
