/* batch_record.h: the record of a batch in flight: its id, its time, and the entries that are in it.
 *
 * A collector that receives the same entries again puts them into a batch with the same id, which the sinks recognize as a
 * replay. The record lies in the journal (journal.h), for the collector itself, and beside a stream, for the collector that
 * claims its entries. Varints: id, now_ns, the relays' ids behind their number, then the number of shares, each with the
 * hash of its source and the ack tokens behind their number: stream, zigzag of the change of `high`, `low`. */
#ifndef COLLECT_BATCH_RECORD_H
#define COLLECT_BATCH_RECORD_H

#include "open_batch.h"

struct batch_record {
	uint64_t id;
	int64_t now_ns;
	uint64_t *relay_ids;
	size_t relay_id_count;
	struct batch_record_share {
		uint64_t source;		/* batch_record_source */
		struct ack_token *ack_tokens;
		size_t ack_token_count;
	} * shares;
	size_t share_count;
};

uint64_t batch_record_source(const char *identity);

/* Whether the batch has ack tokens; others need no record. */
bool batch_record_is_needed(const struct open_batch *b);

void batch_record_put(struct buf *out, const struct open_batch *b);

/* A row of ids, behind their number; the same row of a reader, which is added to. */
void batch_record_put_ids(struct buf *out, const uint64_t *ids, size_t n);
bool batch_record_read_ids(struct strobe_wire_cursor *c, uint64_t **ret, size_t *ret_count);

/* Reads one record, and leaves the cursor behind it. Call batch_record_done also after an error. */
bool batch_record_read(struct strobe_wire_cursor *c, struct batch_record *ret);
void batch_record_done(struct batch_record *r);

#endif
