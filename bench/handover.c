/* handover.c: measures the time to hand one message to the daemon, with the sender that PHP processes use.
 *
 * usage: handover SOCKET COUNT PAUSE_US [NODES [PER_SECOND]]
 * Sends COUNT messages of NODES nodes (40: about 1.4 KB) with a pause between them, as a busy worker does, or so many per
 * second. Prints p50, p99 and the longest in microseconds, how many were lost, and the bytes of a message. */

#include "sender.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static int64_t now_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int compare(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

static size_t make_message(uint8_t *buffer, size_t capacity, uint32_t nodes)
{
	int64_t now = now_ns(CLOCK_REALTIME), one = 1;
	struct strobe_wire_info info = {
		.kind = STROBE_WIRE_SAMPLES, .clock = STROBE_CLOCK_WALL, .pid = (uint32_t)getpid(),
		.start_ns = (uint64_t)now - 200000000, .end_ns = (uint64_t)now, .period_ns = 10000000,
	};
	struct strobe_wire_writer w;
	char name[64];

	strobe_wire_begin(&w, buffer, capacity, &info);
	strobe_wire_string(&w, "entry", 5);
	strobe_wire_string(&w, "handover", 8);
	strobe_wire_string(&w, "samples", 7);
	strobe_wire_string(&w, "count", 5);
	for (uint32_t i = 0; i < nodes; i++)
		strobe_wire_string(&w, name, (size_t)snprintf(name, sizeof(name), "App\\Module%u\\Handler::process", i));
	strobe_wire_label(&w, 1, 2);
	strobe_wire_column(&w, 3, 4);
	for (uint32_t i = 0; i < nodes; i++)
		strobe_wire_frame(&w, 5 + i, 0, i);
	for (uint32_t i = 0; i < nodes; i++)
		strobe_wire_node(&w, i < 20 ? i : 10, i, &one);
	return strobe_wire_end(&w);
}

int main(int argc, char **argv)
{
	static uint8_t buffer[4096];
	struct sender sender;
	int64_t *took;
	long count, pause, nodes = 40, rate = 0;
	long lost = 0;
	size_t size = 0;
	int64_t began;

	if (argc < 4 || argc > 6) {
		fprintf(stderr, "usage: handover SOCKET COUNT PAUSE_US [NODES [PER_SECOND]]\n");
		return 1;
	}
	if (argc > 4)
		nodes = atol(argv[4]);
	if (argc > 5)
		rate = atol(argv[5]);
	count = atol(argv[2]);
	pause = atol(argv[3]);
	took = calloc((size_t)count, sizeof(*took));
	if (!took || count < 100 || nodes < 1 || nodes > 100)
		return 1;
	sender_init(&sender);
	began = now_ns(CLOCK_MONOTONIC);
	for (long i = 0; i < count; i++) {
		int64_t start;

		size = make_message(buffer, sizeof(buffer), (uint32_t)nodes);
		do
			start = now_ns(CLOCK_MONOTONIC);
		while (rate && start - began < i * 1000000000 / rate);
		lost += sender_send(&sender, argv[1], buffer, size) != 0;
		took[i] = now_ns(CLOCK_MONOTONIC) - start;
		if (pause)
			usleep((useconds_t)pause);
	}
	sender_drain(&sender, true);
	for (struct send_queue_message *m = sender.waiting.first; m; m = m->next)
		lost++;
	qsort(took, (size_t)count, sizeof(*took), compare);
	printf("%.2f %.2f %.2f %ld %zu\n", (double)took[count / 2] / 1e3, (double)took[count * 99 / 100] / 1e3,
	       (double)took[count - 1] / 1e3, lost, size);
	free(took);
	return 0;
}
