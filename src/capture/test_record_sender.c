/* test_record_sender.c: tests that samples lost while the daemon is away are counted, and reported to it once it is back. */

#include "mem.h"
#include "record_sender.h"
#include "strobe_wire.h"
#include "test.h"

#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static char path[64];

static int listen_there(void)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);

	snprintf(a.sun_path, sizeof(a.sun_path), "%s", path);
	if (bind(fd, (struct sockaddr *)&a, sizeof(a)) < 0 || listen(fd, 1) < 0)
		abort();
	return fd;
}

/* Makes a profile of `samples` samples whose names take `bytes`. */
static struct profile *make(int64_t samples, size_t bytes)
{
	struct profile *p = profile_new();
	unsigned char *name = xmalloc(65000);
	uint32_t column = profile_column(p, "samples", "count");

	memset(name, 'x', 65000);
	for (size_t i = 0; i * 65000 < bytes; i++) {
		memcpy(name, &i, sizeof(i));
		profile_add(p, profile_child(p, PROFILE_ROOT, profile_frame(p, (struct str){ (char *)name, 65000 },
									     (struct str){ "", 0 }, 0)), column, i ? 0 : samples);
	}
	free(name);
	return p;
}

/* Returns the drop count of the next message. */
static uint64_t receive_drops(int fd, unsigned reason)
{
	static unsigned char bytes[131072];
	struct strobe_wire_message m;
	ssize_t n = recv(fd, bytes, sizeof(bytes), 0);
	const uint8_t *at;
	uint64_t sum = 0;

	if (n <= 0 || strobe_wire_parse(bytes, (size_t)n, &m) != STROBE_WIRE_OK)
		return UINT64_MAX;
	at = m.at_drops;
	for (uint32_t i = 0; i < m.drops; i++) {
		uint64_t r = strobe_wire_next(&at), samples = strobe_wire_next(&at);

		sum += r == reason ? samples : 0;
	}
	return sum;
}

TEST(profiles_dropped_without_a_daemon_are_reported_as_samples)
{
	struct record_sender *s;
	struct err err = { 0 };
	struct labels labels;
	int listener, fd;

	snprintf(path, sizeof(path), "/tmp/strobe-sender-%d.sock", getpid());
	labels_init(&labels);
	labels_set(&labels, "sampler", 7, "record", 6);
	CHECK_INT(record_sender_new(&s, path, &err), 0);
	CHECK_INT(record_sender_add(s, make(5, 100), &err), 0);
	CHECK_INT(record_sender_add(s, make(7, RECORD_SENDER_MAX), &err), 0);
	CHECK(record_sender_lost_bytes(s) > RECORD_SENDER_MAX);
	CHECK(record_sender_flush(s, &err) < 0);
	record_sender_lose(s, &labels, STROBE_DROP_TABLE_FULL, 3);
	record_sender_lose(s, &labels, STROBE_DROP_TABLE_FULL, 0);

	listener = listen_there();
	CHECK_INT(record_sender_flush(s, &err), 0);
	fd = accept(listener, NULL, NULL);
	CHECK_INT(receive_drops(fd, STROBE_DROP_NO_DAEMON), 12);
	CHECK_INT(receive_drops(fd, STROBE_DROP_TABLE_FULL), 3);
	close(fd);
	close(listener);
	unlink(path);
	labels_done(&labels);
	record_sender_free(s);
}

TEST_MAIN()
