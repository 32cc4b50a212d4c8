/* ack_tokens.c: batches of redeliverable entries. After a crash, redelivered entries form a batch with the same id;
 * durable entries are acknowledged. All in the loop's thread. */

#include "collector_private.h"

#include "mem.h"

#include <assert.h>

/* Ends the batches whose acknowledgement the source has confirmed. */
void ack_tokens_end_confirmed(struct collector *c, struct redeliverable *t)
{
	const struct source_ops *ops = t->source->ops;
	uint64_t confirmed = ops->confirmed ? ops->confirmed(t->source) : t->handed_back;

	assert(confirmed <= t->handed_back);
	while (t->unconfirmed && t->unconfirmed->until <= confirmed) {
		struct unconfirmed *u = t->unconfirmed;

		assert(!u->next || u->until < u->next->until);

		t->unconfirmed = u->next;
		t->unconfirmed_count--;
		if (!t->unconfirmed)
			t->last_unconfirmed = &t->unconfirmed;
		if (c->journal)
			journal_end(c->journal, u->batch_id);
		if (ops->forget)
			ops->forget(t->source, u->batch_id);
		free(u);
	}
}

static struct redeliverable *find_redeliverable(struct collector *c, struct source *s)
{
	struct redeliverable *t = c->redeliverable;

	while (t && t->source != s)
		t = t->next;
	if (t)
		return t;
	t = xcalloc(1, sizeof(*t));
	t->source = s;
	t->last_unconfirmed = &t->unconfirmed;
	t->next = c->redeliverable;
	return c->redeliverable = t;
}

void ack_tokens_return(struct collector *c, uint64_t batch_id, const struct open_batch_share *share)
{
	struct redeliverable *t = find_redeliverable(c, share->source);
	struct unconfirmed *u = xcalloc(1, sizeof(*u));

	assert(share->ack_token_count > 0 && share->source->ops->ack);
	t->handed_back += share->ack_token_count;
	*u = (struct unconfirmed){ .batch_id = batch_id, .until = t->handed_back };
	*t->last_unconfirmed = u;
	t->last_unconfirmed = &u->next;
	t->unconfirmed_count++;
	share->source->ops->ack(share->source, share->ack_tokens, share->ack_token_count);
	ack_tokens_end_confirmed(c, t);
}

static struct open_batch *find_replay(struct redeliverable *t, uint64_t id, int64_t now_ns)
{
	struct open_batch **p = &t->replays;

	while (*p && (*p)->batch.id != id)
		p = &(*p)->next;
	if (!*p) {
		*p = open_batch_new(id);
		(*p)->journaled = (*p)->replayed = true;
		(*p)->now_ns = now_ns;
	}
	assert((*p)->replayed && !(*p)->closed);
	return *p;
}

struct open_batch *ack_tokens_batch_for(struct collector *c, const struct message_metadata *about, int64_t *now)
{
	struct open_batch *b = c->open;
	struct redeliverable *t;
	int64_t then;
	uint64_t id;

	if (!about->ack_token)
		return b;
	t = find_redeliverable(c, about->source);
	id = c->journal ? journal_batch_of(c->journal, source_identity(about->source), about->ack_token, &then) : 0;
	if (id) {
		b = find_replay(t, id, then);
	} else {
		if (!t->open) {
			t->open = open_batch_new(collector_take_id(c));
			t->open->now_ns = *now;
		}
		assert(!t->open->replayed && !t->open->closed);
		b = t->open;
	}
	*now = b->now_ns;
	return b;
}

static bool has_relay_id(const struct open_batch *b, uint64_t id)
{
	for (size_t i = b->relay_id_count; i-- > 0;)
		if (b->relay_ids[i] == id)
			return true;
	return false;
}

/* A relay sends a batch again if it got no answer. In a batch rebuilt after a crash, the first copy that comes is the
 * one that was accepted. */
static bool was_seen(struct collector *c, const struct open_batch *b, uint64_t id)
{
	assert(c->journal || !b->replayed);
	if (b->replayed)
		return !journal_batch_held(c->journal, b->batch.id, id) || has_relay_id(b, id);
	return c->journal && journal_seen(c->journal, id);
}

bool ack_tokens_is_replay(struct collector *c, struct open_batch *b, const struct message_metadata *about)
{
	if (!about->batch_id)
		return false;
	if (about->part == 0) {
		c->skipping_replay = was_seen(c, b, about->batch_id);
		if (!c->skipping_replay) {
			GROW(&b->relay_ids, &b->relay_id_capacity, b->relay_id_count + 1);
			b->relay_ids[b->relay_id_count++] = about->batch_id;
		}
	}
	if (!c->skipping_replay)
		return false;
	c->counters.messages_deduplicated++;
	open_batch_note(b, about, 0);
	return true;
}

/* Closes the batches rebuilt after a crash under their old ids; they are complete once the source has caught up. */
static void close_replays(struct collector *c, struct redeliverable *t)
{
	assert(t->caught_up);		/* until then some of their entries may be missing */
	while (t->replays) {
		struct open_batch *b = t->replays;

		t->replays = b->next;
		collector_close_batch(c, b);
	}
}

void ack_tokens_close(struct collector *c, struct redeliverable *t)
{
	struct open_batch *b = t->open;

	t->open = NULL;
	if (t->caught_up)
		close_replays(c, t);
	if (b)
		collector_close_batch(c, b);
}

void ack_tokens_caught_up(struct collector *c, struct source *s)
{
	struct redeliverable *t = find_redeliverable(c, s);

	t->caught_up = true;
	close_replays(c, t);
	if (c->journal)
		journal_caught_up(c->journal, source_identity(s));
}

void ack_tokens_recorded(struct collector *c, struct source *s, const struct batch_record *r)
{
	if (!c->journal)
		return;
	find_redeliverable(c, s)->caught_up = false;
	journal_adopt(c->journal, source_identity(s), r);
}

/* Drops rebuilt batches that are incomplete, at shutdown or when their source is closed. If they were stored, their
 * missing entries would later be taken for duplicates. */
void ack_tokens_forget_replays(struct collector *c, struct redeliverable *t)
{
	while (t->replays) {
		struct open_batch *b = t->replays;

		assert(b->replayed && !b->closed);
		assert(c->counters.samples_queued >= b->samples && c->counters.queue_bytes >= b->counted_bytes);
		assert(t->source->counters.samples_in_flight >= b->samples && t->source->batches > 0);
		t->replays = b->next;
		c->counters.samples_received -= b->samples;
		c->counters.samples_queued -= b->samples;
		c->counters.queue_bytes -= b->counted_bytes;
		t->source->counters.samples_received -= b->samples;
		t->source->counters.samples_in_flight -= b->samples;
		t->source->batches--;
		open_batch_free(b);
	}
}

bool collector_forget(struct collector *c, struct source *s)
{
	struct redeliverable **p = &c->redeliverable, *t;

	while ((t = *p) && t->source != s)
		p = &t->next;
	if (t)
		ack_tokens_forget_replays(c, t);
	if (s->batches || (t && (t->open || t->unconfirmed)))
		return false;
	if (t)
		*p = t->next;
	free(t);
	return true;
}

void ack_tokens_free_first(struct collector *c)
{
	struct redeliverable *t = c->redeliverable;

	c->redeliverable = t->next;
	while (t->replays) {
		struct open_batch *b = t->replays;

		t->replays = b->next;
		open_batch_free(b);
	}
	while (t->unconfirmed) {
		struct unconfirmed *u = t->unconfirmed;

		t->unconfirmed = u->next;
		free(u);
	}
	open_batch_free(t->open);
	free(t);
}
