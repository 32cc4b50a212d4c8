/* burst.c: PHP processes that are calm, and one that is not: what of it is lost.
 *
 * usage: burst SOCKET BURSTS
 * Ten senders, those of the extension, hand over a small message each in turn, 100 a second. After each second and a
 * half one more has 20 messages of 60 KB, one every two milliseconds, which is several times what a buffer holds.
 * Prints for each burst how many of its messages were not taken. Each message has 3 samples. */

#include "sender.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define CALM		10
#define CALM_MESSAGES	150
#define CALM_PAUSE_US	10000
#define BURST_MESSAGES	20
#define BURST_PAUSE_US	2000
#define PADDING		59000

static size_t write_message(uint8_t *buffer, size_t size, size_t padding)
{
	static const char name[PADDING] = { 'x' };
	const struct strobe_wire_info info = { .kind = STROBE_WIRE_SAMPLES, .clock = STROBE_CLOCK_WALL,
					       .pid = (uint32_t)getpid(), .period_ns = 10000000 };
	const int64_t values[] = { 3 };
	struct strobe_wire_writer w;

	strobe_wire_begin(&w, buffer, size, &info);
	strobe_wire_string(&w, "samples", 7);
	strobe_wire_string(&w, "count", 5);
	strobe_wire_string(&w, "main", 4);
	strobe_wire_string(&w, name, padding);
	strobe_wire_column(&w, 1, 2);
	strobe_wire_frame(&w, 3, 0, 0);
	strobe_wire_node(&w, 0, 0, values);
	return strobe_wire_end(&w);
}

static int send_messages(struct sender *senders, unsigned count, const char *path, size_t padding, unsigned messages,
			 useconds_t pause_us)
{
	static uint8_t buffer[65536];
	int lost = 0;

	for (unsigned i = 0; i < messages; i++) {
		lost += sender_send(&senders[i % count], path, buffer,
				    write_message(buffer, sizeof(buffer), padding)) != 0;
		usleep(pause_us);
	}
	return lost;
}

int main(int argc, char **argv)
{
	struct sender calm[CALM], one;
	int bursts = argc == 3 ? atoi(argv[2]) : 0;

	if (bursts <= 0)
		return 1;
	sender_init(&one);
	for (int i = 0; i < CALM; i++)
		sender_init(&calm[i]);
	send_messages(&one, 1, argv[1], 1, 1, 0);		/* it is connected long before */
	for (int i = 0; i < bursts; i++) {
		if (send_messages(calm, CALM, argv[1], 1, CALM_MESSAGES, CALM_PAUSE_US))
			return 1;
		printf("%d\n", send_messages(&one, 1, argv[1], PADDING, BURST_MESSAGES, BURST_PAUSE_US));
	}
	return 0;
}
