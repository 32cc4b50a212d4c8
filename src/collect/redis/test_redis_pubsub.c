/* test_redis_pubsub.c: subscriptions to channels and patterns against a scripted server. */
#include "clock.h"
#include "mem.h"
#include "source.h"
#include "source_url.h"
#include "test.h"
#include "test_server.h"

struct got {
	struct loop *loop;
	struct watch guard;
	char text[1024];
	unsigned lines, wanted;
	bool timed_out;
};

static void on_line(void *data, const struct message_metadata *about, const char *line, size_t n)
{
	struct got *g = data;
	size_t used = strlen(g->text);

	snprintf(g->text + used, sizeof(g->text) - used, "%s %s %d %lld: %.*s\n", about->channel,
		 about->labels ? labels_get(about->labels, "dc") : "-", (int)about->clock, (long long)about->period_ns,
		 (int)n, line);
	if (++g->lines == g->wanted)
		loop_stop(g->loop, 0);
}

static void on_message(void *data, const struct message_metadata *about, const struct strobe_wire_message *m)
{
}

static bool never_full(void *data)
{
	return false;
}

static void guard_rang(struct watch *w, uint32_t events)
{
	struct got *g = (struct got *)((char *)w - offsetof(struct got, guard));

	loop_timer_read(w);
	g->timed_out = true;
	loop_stop(g->loop, 0);
}

static int open_source(struct got *g, const char *url, struct source **ret, struct err *err)
{
	const struct source_receiver r = { .message = on_message, .line = on_line, .full = never_full, .data = g };

	return source_open(url, g->loop, &r, ret, err);
}

/* Subscribes again after a loss: the first connection is closed after a message. */
static const char *answer(int connection, char **words, int count)
{
	static int confirmed;

	if (!strcmp(words[0], "PSUBSCRIBE"))
		return "*3\r\n$10\r\npsubscribe\r\n$2\r\nc*\r\n:3\r\n"
		       "*4\r\n$8\r\npmessage\r\n$2\r\nc*\r\n$2\r\ncx\r\n$5\r\nq;r 7\r\n";
	if (strcmp(words[0], "SUBSCRIBE"))
		return test_answer_ordinary(connection, words, count);
	if (count != 3 || strcmp(words[1], "a") || strcmp(words[2], "b"))
		return NULL;
	if (confirmed++)
		return "*3\r\n$9\r\nsubscribe\r\n$1\r\na\r\n:1\r\n*3\r\n$9\r\nsubscribe\r\n$1\r\nb\r\n:2\r\n"
		       "*3\r\n$7\r\nmessage\r\n$1\r\nb\r\n$5\r\nx;y 3\r\n";
	/* Numbers instead of text, invalid lines, and then no protocol at all. */
	return "*3\r\n$9\r\nsubscribe\r\n$1\r\na\r\n:1\r\n*3\r\n$9\r\nsubscribe\r\n$1\r\nb\r\n:2\r\n"
	       "*3\r\n$7\r\nmessage\r\n:1\r\n:2\r\n*3\r\n$7\r\nmessage\r\n$1\r\na\r\n*0\r\n*1\r\n$7\r\nmessage\r\n"
	       "*3\r\n$7\r\nmessage\r\n$1\r\na\r\n$18\r\nf;g 1\nno count\nh 2\n\r\n"
	       "bad\r\n";
}

TEST(overlapping_channels_and_patterns_are_rejected)
{
	static const char *const urls[] = {
		"redis://127.0.0.1:1/?channel=excimer&pattern=excimer*", "redis://127.0.0.1:1/?pattern=a*&channel=x,ab",
		"redis://127.0.0.1:1/?pattern=excimer*,exc*",
	};

	for (size_t i = 0; i < ARRAY_SIZE(urls); i++) {
		struct got g = { 0 };
		struct source *s = NULL;
		struct err err = { 0 };

		g.loop = loop_new(NULL);
		CHECK_INT(open_source(&g, urls[i], &s, &err), -EINVAL);
		CHECK(strstr(err.text, "would count twice; remove one of them"));
		loop_free(g.loop);
	}
}

TEST(all_channels_are_resubscribed_after_a_lost_connection)
{
	struct test_server server = test_server_start(answer);
	_cleanup_(freep) char *url =
		xasprintf("redis://127.0.0.1:%u/?channel=a,b&pattern=c*&label.dc=x&clock=cpu&period=0.01",
					       server.port);
	struct got g = { .wanted = 4, .guard = { .ready = guard_rang, .fd = -1 } };
	struct source *s = NULL;
	char state[256];
	struct err err;

	g.loop = loop_new(NULL);
	loop_add_timer(g.loop, &g.guard, 20 * NS_PER_SECOND, NULL);
	CHECK_INT(open_source(&g, url, &s, &err), 0);
	loop_run(g.loop, NULL);
	CHECK(!g.timed_out);
	CHECK_STR(g.text, "a x 2 10000000: f;g 1\na x 2 10000000: h 2\nb x 2 10000000: x;y 3\n"
		  "cx x 2 10000000: q;r 7\n");
	CHECK_INT(s->counters.lines, 4);
	CHECK_INT(s->counters.connections, 2);
	CHECK_INT(s->counters.connections_lost, 1);
	CHECK_INT(s->counters.rejected_lines[SOURCE_LINE_NO_COUNT], 1);
	CHECK(source_state(s, state, sizeof(state)) && !strncmp(state, "subscribed to a, b, c* at 127.0.0.1:", 36));
	source_stop(s);
	CHECK(!source_state(s, state, sizeof(state)));
	source_close(s);
	loop_remove_timer(g.loop, &g.guard);
	loop_free(g.loop);
	test_server_stop(&server);
}

TEST(invalid_subscription_urls_are_rejected_with_a_remedy)
{
	static const char *const bad[][2] = {
		{ "redis://u:secret@h/?channel=", "redis://u:***@h/?channel=: channel= and pattern= are empty; use channel=excimer" },
		{ "redis://u:secret@h", "missing channel to subscribe to, as in redis://u:***@h?channel=excimer" },
		{ "redis://h/?channel=,", "channel= and pattern= are empty; use channel=excimer" },
		{ "redis://h/?channel=a&tint=red",
		  "unknown parameter 'tint'; a subscription takes channel, pattern" },
		{ "redis://h/?channel=a&clock=sun", "clock=sun: use wall or cpu" },
		{ "redis://h/?channel=a&period=0", "must be positive" },
		{ "redis://h/?channel=a&label.a-b=1", "a label's name has letters, digits and _" },
		{ "rediss://u:secret@h", "missing channel to subscribe to, as in rediss://u:***@h?channel=excimer" },
		{ "rediss://u:secret@h/?channel=a&verify=2", "verify=2: use yes or no" },
		{ "redis://u:secret@h/?channel=a&ca-file=/c", "ca-file= requires TLS; use rediss://" },
		{ "redis://h:x/?channel=a", "the port is not a number" },
	};
	struct got g = { 0 };

	g.loop = loop_new(NULL);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct source *s = NULL;
		struct err err = { 0 };

		CHECK_INT(open_source(&g, bad[i][0], &s, &err), -EINVAL);
		if (!strstr(err.text, bad[i][1]) || strstr(err.text, "secret"))
			CHECK_STR(err.text, bad[i][1]);
	}
	loop_free(g.loop);
}

/* Returns the error of opening `url` beside an open `first`, "" if there is none. */
static const char *open_beside(const char *first, const char *url, bool first_is_removed)
{
	static struct err err;
	struct source *a = NULL, *b = NULL;
	struct got g = { .loop = loop_new(NULL) };
	struct source_receiver r = { .message = on_message, .line = on_line, .full = never_full, .data = &g };

	err = (struct err){ 0 };
	CHECK_INT(source_open(first, g.loop, &r, &a, NULL), 0);
	*(first_is_removed ? &r.removed : &r.kept) = (struct source_list){ &a, 1 };
	CHECK_INT(source_open(url, g.loop, &r, &b, &err), *err.text ? -EEXIST : 0);
	source_close(b);
	source_close(a);
	loop_free(g.loop);
	return err.text;
}

TEST(a_channel_of_a_server_can_be_subscribed_to_only_once)
{
	static const char first[] = "redis://u:secret@127.0.0.1:1/?channel=a,b&pattern=x*";

	CHECK_STR(open_beside(first, "redis://127.0.0.1:1/3?pattern=a*&channel=c,b", false),
		  "redis://127.0.0.1:1/3?pattern=a*&channel=c,b: redis://u:***@127.0.0.1:1/?channel=a,b&pattern=x* "
		  "already subscribes to the channel 'b', so each message would count twice; remove one of them");
	CHECK(strstr(open_beside(first, "redis://127.0.0.%31:1?pattern=%78*&label.dc=x", false),
		     "already subscribes to the pattern 'x*'"));
	CHECK_STR(open_beside(first, "redis://127.0.0.1:1/?channel=b&label.dc=x", true), "");
	CHECK_STR(open_beside(first, "redis://127.0.0.1:2/?channel=b", false), "");
	CHECK_STR(open_beside(first, "redis://127.0.0.2:1/?channel=b", false), "");
	CHECK(strstr(open_beside(first, "redis://127.0.0.1:1/?pattern=[ab]", false), "already subscribes to the channel 'a'"));
	CHECK(strstr(open_beside(first, "redis://127.0.0.1:1/?channel=c,xy", false), "already subscribes to the channel 'xy'"));
	CHECK(strstr(open_beside(first, "redis://127.0.0.1:1/?pattern=xy*", false), "already subscribes to the pattern 'xy*'"));
	CHECK_STR(open_beside(first, "redis://127.0.0.1:1/?channel=c&pattern=[cd]y,y*", false), "");
	CHECK_STR(open_beside(first, "redis://127.0.0.1:1/?stream=b", false), "");
	/* A port does not matter for a unix socket. */
	CHECK(strstr(open_beside("redis://%2Ftmp%2Fnobody.sock:1/?channel=a%0Ab",
				 "redis://%2Ftmp%2Fnobody.sock/?channel=a%0Ab", false), "already subscribes to the channel 'a?b'"));
}

TEST(only_the_parameters_of_hints_are_consumed)
{
	struct message_metadata about;
	struct source_hints h;

	source_hints_init(&h);
	CHECK_INT(source_hints_set(&h, "stream", "s", NULL), 0);
	about = source_hints_about(&h);
	CHECK(!about.labels && about.clock == STROBE_CLOCK_NONE && !about.period_ns);
	CHECK_INT(source_hints_set(&h, "label.host", "web1", NULL), 1);
	CHECK_INT(source_hints_set(&h, "clock", "wall", NULL), 1);
	CHECK_INT(source_hints_set(&h, "period", "60", NULL), 1);
	about = source_hints_about(&h);
	CHECK_STR(labels_get(about.labels, "host"), "web1");
	CHECK_INT(about.clock, STROBE_CLOCK_WALL);
	CHECK_INT(about.period_ns, 60 * NS_PER_SECOND);
	source_hints_done(&h);
}

TEST_MAIN()
