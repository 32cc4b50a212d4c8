/* batch_record.c: writing and reading records. Their bytes may come from a damaged file, or from an untrusted
 * Redis: no number in them is trusted as a size. */
#include "batch_record.h"

#include "mem.h"

#include <string.h>
#include <xxhash.h>

uint64_t batch_record_source(const char *identity)
{
	return XXH3_64bits(identity, strlen(identity));
}

/* --- Writing --- */

void batch_record_put_ids(struct buf *out, const uint64_t *ids, size_t n)
{
	buf_put_varint(out, n);
	for (size_t i = 0; i < n; i++)
		buf_put_varint(out, ids[i]);
}

static size_t shares_with_ack_tokens(const struct open_batch *b)
{
	size_t n = 0;

	for (size_t i = 0; i < b->share_count; i++)
		n += b->shares[i].ack_token_count > 0;
	return n;
}

bool batch_record_is_needed(const struct open_batch *b)
{
	return shares_with_ack_tokens(b) > 0;
}

static void put_share(struct buf *out, const struct open_batch_share *s)
{
	uint64_t high = 0;

	buf_put_varint(out, batch_record_source(source_identity(s->source)));
	buf_put_varint(out, s->ack_token_count);
	for (size_t i = 0; i < s->ack_token_count; i++) {
		const struct ack_token *t = &s->ack_tokens[i];

		buf_put_varint(out, t->stream);
		buf_put_varint(out, strobe_wire_zigzag((int64_t)(t->high - high)));
		buf_put_varint(out, t->low);
		high = t->high;
	}
}

void batch_record_put(struct buf *out, const struct open_batch *b)
{
	buf_put_varint(out, b->batch.id);
	buf_put_varint(out, (uint64_t)b->now_ns);
	batch_record_put_ids(out, b->relay_ids, b->relay_id_count);
	buf_put_varint(out, shares_with_ack_tokens(b));
	for (size_t i = 0; i < b->share_count; i++)
		if (b->shares[i].ack_token_count)
			put_share(out, &b->shares[i]);
}

/* --- Reading --- */

bool batch_record_read_ids(struct strobe_wire_cursor *c, uint64_t **ret, size_t *ret_count)
{
	size_t capacity = 0;
	uint64_t n, id;

	if (!strobe_wire_get_varint(c, &n))
		return false;
	for (uint64_t i = 0; i < n; i++) {
		if (!strobe_wire_get_varint(c, &id))
			return false;
		GROW(ret, &capacity, *ret_count + 1);
		(*ret)[(*ret_count)++] = id;
	}
	return true;
}

static bool read_share(struct strobe_wire_cursor *c, struct batch_record_share *s)
{
	uint64_t n, stream, change;
	struct ack_token t = { 0 };
	size_t capacity = 0;

	if (!strobe_wire_get_varint(c, &s->source) || !strobe_wire_get_varint(c, &n))
		return false;
	for (uint64_t i = 0; i < n; i++) {
		if (!strobe_wire_get_varint(c, &stream) || !strobe_wire_get_varint(c, &change) ||
		    !strobe_wire_get_varint(c, &t.low))
			return false;
		t.stream = (uint32_t)stream;
		t.high += (uint64_t)strobe_wire_unzigzag(change);
		GROW(&s->ack_tokens, &capacity, s->ack_token_count + 1);
		s->ack_tokens[s->ack_token_count++] = t;
	}
	return true;
}

bool batch_record_read(struct strobe_wire_cursor *c, struct batch_record *ret)
{
	uint64_t now, shares;
	size_t capacity = 0;

	*ret = (struct batch_record){ 0 };
	if (!strobe_wire_get_varint(c, &ret->id) || !strobe_wire_get_varint(c, &now) ||
	    !batch_record_read_ids(c, &ret->relay_ids, &ret->relay_id_count) || !strobe_wire_get_varint(c, &shares))
		return false;
	ret->now_ns = (int64_t)now;
	for (uint64_t i = 0; i < shares; i++) {
		GROW(&ret->shares, &capacity, ret->share_count + 1);
		ret->shares[ret->share_count] = (struct batch_record_share){ 0 };
		if (!read_share(c, &ret->shares[ret->share_count++]))
			return false;
	}
	return true;
}

void batch_record_done(struct batch_record *r)
{
	for (size_t i = 0; i < r->share_count; i++)
		free(r->shares[i].ack_tokens);
	free(r->shares);
	free(r->relay_ids);
	*r = (struct batch_record){ 0 };
}
