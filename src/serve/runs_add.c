/* runs_add.c: enforces limits, counts uploads and chooses their status. */
#include "runs_add.h"

#include "upload_read.h"

static int status_of(struct server_context *s, int code)
{
	switch (code) {
	case -ETIMEDOUT:
		s->http.uploads_late++;
		return 413;
	case -ENOMEM:
		s->http.uploads_large++;
		return 413;
	case -EBUSY:
		s->http.uploads_busy++;
		return 503;
	case -ECANCELED:
		return 503;
	case -EIO:
		return 500;
	case -ENOTSUP:
		return 415;
	default:
		return code == -EFBIG ? 413 : 400;
	}
}

/* Nearly every profile needs only a few MB; larger ones get half of the cap. */
static int read_with(struct server_context *s, bool large, const char *name, const char *bytes, size_t n, struct profile *p,
		     uint64_t *ret_charged, struct err *err)
{
	uint64_t memory = s->memory.most ? s->memory.most / (large ? 2 : 16) : UPLOAD_MEMORY;

	memory = memory < UPLOAD_MEMORY ? memory : UPLOAD_MEMORY;
	if (s->memory.most && !memory_cap_reserve(&s->memory, memory))
		return err_set(err, -EBUSY, "too busy: queries, uploads and pending responses use %llu of the %llu MB of "
			       "--query-memory; send it again", (unsigned long long)(s->memory.used >> 20),
			       (unsigned long long)(s->memory.most >> 20));
	*ret_charged = s->memory.most ? memory : 0;
	return upload_read(name, bytes, n, (size_t)memory, s->uploads ? workers_stop_fd(s->uploads) : -1, p, err);
}

int runs_read(struct server_context *s, const char *name, const char *bytes, size_t n, struct profile *p, uint64_t *ret_charged,
	      struct err *err)
{
	int e;

	*ret_charged = 0;
	e = read_with(s, false, name, bytes, n, p, ret_charged, err);
	if (e == -ENOMEM && s->memory.most) {
		memory_cap_release(&s->memory, *ret_charged);
		*ret_charged = 0;
		e = read_with(s, true, name, bytes, n, p, ret_charged, err);
	}
	return e < 0 ? status_of(s, e) : 0;
}

int runs_store(struct server_context *s, const struct profile *p, int64_t now_ns, struct store_new_run *ret)
{
	struct err err = { 0 };

	*ret = (struct store_new_run){ .profile = p };
	if (store_add_runs(s->options.store, ret, 1, now_ns, &err) < 0) {
		ret->err = err;
		return store_is_unavailable(err.code) ? 503 : 500;
	}
	if (ret->result < 0)
		return ret->result == -EEXIST ? 409 : ret->result == -EFBIG ? 413 : 400;
	s->http.runs_posted += ret->result == 1;
	return 0;
}
