/* fuzz_push.c: parses any bytes as a push, whose kind is the first byte; accepted ones must yield messages that the
 * daemon accepts. */
#include "push_messages.h"
#include "push_pprof.h"
#include "push_text.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* "NAME newline BYTES" */
static int read_named(struct pushed *p, uint8_t kind, const char *bytes, size_t n, struct labels *labels, struct err *err)
{
	const char *newline = memchr(bytes, '\n', n);
	size_t name = newline ? (size_t)(newline - bytes) : n;
	struct str rest = { bytes + name, n - name };
	const struct push_type *type;
	struct profile *to;
	int r;

	if ((r = push_name(p, (struct str){ bytes, name }, true, labels, &type, err)) < 0)
		return r;
	if (kind == 'p')
		return push_pprof(p, &(struct push_metadata){ .labels = labels, .name = { "", 0 } }, rest.p, rest.n, err);
	if ((r = pushed_series(p, labels, &(struct pushed_metadata){ .clock = type->clock, .period_ns = 1 }, &to, err)) < 0)
		return r;
	return kind == 'i' ? push_trie(p, to, type, rest, err) : kind == 'e' ? push_tree(p, to, type, rest, err) :
	       push_folded(p, to, type, rest, kind == 'f', err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct strobe_wire_message m;
	struct labels labels;
	struct err err = { 0 };
	struct pushed p;
	struct buf out;
	int r;

	if (!size)
		return 0;
	pushed_init(&p);
	buf_init(&out);
	labels_init(&labels);
	r = data[0] == 'r' ? push_request(&p, data + 1, size - 1, &err) :
		read_named(&p, data[0], (const char *)data + 1, size - 1, &labels, &err);
	if (r < 0 && !err.text[0])
		abort();
	if (r >= 0 && pushed_write(&p, NULL, 1, &out, &err) >= 0)
		for (size_t at = 0; at < out.size; at += m.size)
			if (strobe_wire_parse(out.data + at, strobe_wire_first(out.data + at, out.size - at), &m))
				abort();
	labels_done(&labels);
	buf_done(&out);
	pushed_done(&p);
	return 0;
}
