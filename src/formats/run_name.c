/* run_name.c: names runs by their file names, or by their content. */

#include "run_name.h"

#include "text.h"
#include "wire_profile.h"

#include <string.h>
#include <xxhash.h>

static bool cut_end(struct str *s, const char *end)
{
	if (!text_ends(*s, end))
		return false;
	s->n -= strlen(end);
	return true;
}

static bool take_key(char ret[STROBE_WIRE_RUN_KEY + 1], const char *p, size_t n)
{
	if (!strobe_wire_is_run_key(p, n))
		return false;
	memcpy(ret, p, n);
	ret[n] = '\0';
	return true;
}

bool run_name_of_file(const char *path, struct run_name *ret)
{
	const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path, *dot;
	struct str s = { base, strlen(base) };

	if (!cut_end(&s, ".gz"))
		cut_end(&s, ".zst");
	cut_end(&s, ".json");
	if (!cut_end(&s, ".xhprof") && !cut_end(&s, ".uprofiler"))
		return false;
	dot = memchr(s.p, '.', s.n);
	return dot && take_key(ret->id, s.p, (size_t)(dot - s.p)) &&
	       take_key(ret->source, dot + 1, (size_t)(s.p + s.n - dot - 1));
}

bool run_name_of_profile(const struct profile *p, char ret_id[STROBE_WIRE_RUN_KEY + 1])
{
	_cleanup_(buf_done) struct buf message = { 0 };
	struct profile view = *p;
	struct err err = { 0 };
	XXH128_hash_t hash;

	buf_init(&message);
	memset(&view.labels, 0, sizeof(view.labels));
	labels_copy(&view.labels, &p->labels);
	/* Runs must have these labels. */
	if (!labels_get(&view.labels, "source"))
		labels_set(&view.labels, "source", 6, "default", 7);
	labels_set(&view.labels, "id", 2, "-", 1);
	if (wire_profile_write_run(&view, &message, &err) < 0) {
		labels_done(&view.labels);
		return false;
	}
	labels_done(&view.labels);
	hash = XXH3_128bits(message.data, message.size);
	snprintf(ret_id, STROBE_WIRE_RUN_KEY + 1, "%016llx%016llx", (unsigned long long)hash.high64,
		 (unsigned long long)hash.low64);
	return true;
}
