/* fuzz_folded.c: reads any bytes as folded stacks; accepted ones are written and read again until the result must be
 * the same. */
#include "format.h"
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Tells whether the first name begins like a compressed file. */
static bool looks_compressed(const struct buf *b)
{
	return !strncmp(b->data, "\x1f\x8b", 2) || !strncmp(b->data, "\x28\xb5\x2f\xfd", 4);
}

static int read_bytes(struct profile *p, const char *bytes, size_t n, struct err *err)
{
	const struct format_options o = { 0 };
	struct input in;
	int r = input_memory(&in, "memory", bytes, n, UINT64_MAX, err);

	if (r >= 0)
		r = in.packed ? -EINVAL : format_folded.read(p, &in, &o, err);
	input_close(&in);
	return r;
}

/* Reads our own folded text `in` and writes it again. Returns false if it is read as something else: as a difference,
 * because all names in it end in numbers, or as compressed. */
static bool again(const struct buf *in, struct buf *out)
{
	struct profile *p = profile_new();
	bool same_kind = true;
	struct err err;
	int skipped = 0;

	if (looks_compressed(in)) {
		profile_free(p);
		return false;
	}
	if (in->size && (format_folded.sniff(in->data, in->size) == 0 ||
			 (skipped = read_bytes(p, in->data, in->size, &err)) < 0 ||
			 format_folded.write(p, UINT32_MAX, out, &err) < 0))
		abort();
	same_kind = profile_find_column(p, "before") == UINT32_MAX;
	if (same_kind && skipped)
		abort();
	profile_free(p);
	return same_kind;
}

static void round_trip(const uint8_t *data, size_t size)
{
	struct profile *p = profile_new();
	struct buf one, two, three;
	struct err err;

	buf_init(&one);
	buf_init(&two);
	buf_init(&three);
	if (read_bytes(p, (const char *)data, size, &err) >= 0) {
		if (format_folded.write(p, UINT32_MAX, &one, &err) < 0)
			abort();
		/* Sanitized names may become equal, so the first reading may still merge lines. */
		if (again(&one, &two) && again(&two, &three) &&
		    (two.size != three.size || memcmp(two.data, three.data, two.size)))
			abort();
	}
	profile_free(p);
	buf_done(&one);
	buf_done(&two);
	buf_done(&three);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	format_folded.sniff((const char *)data, size);
	round_trip(data, size);
	return 0;
}
