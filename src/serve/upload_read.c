/* upload_read.c: waits for a child process that reads a profile. */
#include "upload_read.h"

#include "clock.h"
#include "format.h"

#include <poll.h>

/* Waits until the child has ended or has taken too long. */
static int wait_for_end(const struct sandbox *a, int stop_fd, struct err *err)
{
	for (;;) {
		int64_t left = a->end_ns - clock_monotonic_ns();
		struct pollfd p[] = { { .fd = a->done, .events = POLLIN }, { .fd = stop_fd, .events = POLLIN } };

		if (left <= 0)
			return 0;
		if (poll(p, 2, (int)(left / 1000000) + 1) <= 0)
			continue;
		if (p[0].revents)
			return 0;
		if (p[1].revents)
			return err_set(err, -ECANCELED, "the daemon is shutting down, and the profile was not "
							"read; send it again");
	}
}

int upload_read(const char *name, const char *body, size_t n, size_t memory, int stop_fd, struct profile *p, struct err *err)
{
	struct sandbox_input in = { .name = name, .bytes = body, .n = n, .fd = -1, .memory = memory };
	const char *messages;
	struct err ended;
	struct sandbox a;
	size_t size;
	int r = sandbox_start(&a, &in, err), e;

	if (r < 0)
		return r;
	r = wait_for_end(&a, stop_fd, err);
	e = sandbox_end(&a, &messages, &size, &ended);
	if (r >= 0 && e < 0)
		r = err_set(err, e, "%s", ended.text);
	profile_keep_chart(p, true);
	profile_keep_lines(p, true);
	if (r >= 0)
		r = format_read_bytes(&format_strobe, p, messages, size, err);
	sandbox_free_messages(messages, size);
	return r;
}
