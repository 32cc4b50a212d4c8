/* handover.c: how long it takes to hand one message to the daemon, from the sender that PHP processes use.
 *
 * usage: handover SOCKET COUNT PAUSE_US
 * Sends COUNT messages of about 1.4 KB (12 stacks) with a pause between them, as a busy worker does, and prints
 * p50, p99 and the longest, and how many were lost. */

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

static size_t make_message(uint8_t *buffer, size_t capacity)
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
	for (int i = 0; i < 40; i++)
		strobe_wire_string(&w, name, (size_t)snprintf(name, sizeof(name), "App\\Module%d\\Handler::process", i));
	strobe_wire_label(&w, 1, 2);
	strobe_wire_column(&w, 3, 4);
	for (uint32_t i = 0; i < 40; i++)
		strobe_wire_frame(&w, 5 + i, 0, i);
	for (uint32_t i = 0; i < 40; i++)
		strobe_wire_node(&w, i < 20 ? i : 10, i, &one);
	return strobe_wire_end(&w);
}

int main(int argc, char **argv)
{
	static uint8_t buffer[4096];
	struct sender sender;
	int64_t *took;
	long count, pause;
	long lost = 0;

	if (argc != 4) {
		fprintf(stderr, "usage: handover SOCKET COUNT PAUSE_US\n");
		return 1;
	}
	count = atol(argv[2]);
	pause = atol(argv[3]);
	took = calloc((size_t)count, sizeof(*took));
	if (!took || count < 100)
		return 1;
	sender_init(&sender);
	for (long i = 0; i < count; i++) {
		size_t size = make_message(buffer, sizeof(buffer));
		int64_t start = now_ns(CLOCK_MONOTONIC);

		lost += sender_send(&sender, argv[1], buffer, size) != 0;
		took[i] = now_ns(CLOCK_MONOTONIC) - start;
		if (pause)
			usleep((useconds_t)pause);
	}
	sender_drain(&sender, true);
	for (struct waiting_message *m = sender.waiting.first; m; m = m->next)
		lost++;
	qsort(took, (size_t)count, sizeof(*took), compare);
	printf("%.2f %.2f %.2f %ld\n", (double)took[count / 2] / 1e3, (double)took[count * 99 / 100] / 1e3,
	       (double)took[count - 1] / 1e3, lost);
	free(took);
	return 0;
}
