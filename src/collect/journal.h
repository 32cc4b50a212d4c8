/* journal.h: the ack tokens in batches that sinks may have seen and that are not acknowledged yet.
 *
 * A collector that dies between a commit and the acknowledgement receives the same entries again. The journal knows to
 * which batch they belonged, so they form one with the same id, which the sinks recognize as a replay. It is a ledger
 * (ledger.h): each record is written and synced before the first sink sees the batch; when it has grown and most records
 * are obsolete, it is replaced by one with the rest. Also kept: the ids of relays' batches that were seen, the last
 * JOURNAL_SEEN of them. The body of a record is its kind and, in varints, its content: 1 a batch in flight
 * (batch_record.h), 2 the ids of relays behind their number, 3 the id of a batch that ended.
 *
 * A batch has ended when its acknowledgement has arrived. Its record stays for half a minute and mostly longer, since a
 * Redis that is killed may have forgotten the acknowledgement when it is back.
 */
#ifndef COLLECT_JOURNAL_H
#define COLLECT_JOURNAL_H

#include "batch_record.h"

#define JOURNAL_SEEN	(256u * 1024)

struct journal;

/* Reads the file, and creates it if it is missing. Reading ends at a record truncated by a crash, whose batch no sink
 * has seen. */
int journal_open(const char *path, struct journal **ret, struct err *err);
struct journal *journal_close(struct journal *j);	/* NULL is fine; returns NULL */

/* --- The loop's thread --- */

/* Returns the id and time of the batch that held this ack token of the source (source_identity) before the crash; 0
 * if none did. */
uint64_t journal_batch_of(struct journal *j, const char *source, const struct ack_token *t, int64_t *ret_now_ns);

/* Whether that batch held the data of the relay's batch, not just the ack token of a duplicate. */
bool journal_batch_held(const struct journal *j, uint64_t batch_id, uint64_t relay_id);

/* Adds a record that was kept elsewhere: ack tokens of this source form its batch, as if it had been in the file. */
void journal_adopt(struct journal *j, const char *source, const struct batch_record *r);

/* The source has redelivered everything: the remaining ack tokens will never come again. */
void journal_caught_up(struct journal *j, const char *source);

/* Returns whether a relay's batch has been seen, and notes it as seen. */
bool journal_seen(struct journal *j, uint64_t relay_id);

/* --- Any thread --- */

/* Records the batch durably, if it has ack tokens and no record yet. Every failure is -EIO, so it is retried. */
int journal_begin(struct journal *j, struct open_batch *b, struct err *err);

/* The ids of batches whose ack tokens may be redelivered, including those that ended a moment ago; 8 bytes each. The caller frees. */
uint64_t *journal_open_ids(struct journal *j, size_t *ret_count);

/* Notes that a batch is acknowledged: its ack tokens will not be redelivered. */
void journal_end(struct journal *j, uint64_t batch_id);

/* For tests: how long the record of a batch that has ended is kept at least. */
void journal_set_ended_kept(int64_t ns);

#endif
