/* test_status_text.c: answers of a daemon, and of other servers. */

#include "php_processes.h"
#include "status_text.h"

#include "test.h"

static const char answer[] =
	"{\"version\":\"0.1.0\",\"now\":1000100.5,\"started\":1000000,\"uptime_seconds\":4000,\"ready\":true,"
	"\"not_ready\":null,\"samples\":{\"received\":1234567,\"stored\":1234560,\"queued\":3,"
	"\"dropped\":{\"queue_full\":4},\"dropped_for_removed_sinks\":1200,\"dropped_by_senders\":{\"no_daemon\":0,\"socket_full\":12,\"refused\":1},"
	"\"last\":1000090.0},\"commits\":{\"done\":99,\"failed\":0,\"queue_bytes\":0,\"failing\":false,"
	"\"last\":1000099.9},\"sources\":[{\"url\":\"unix:/run/s\",\"connections\":14,\"messages\":7000,"
	"\"rejected\":{\"truncated\":2,\"memfd\":0}}],\"store\":{\"url\":\"sqlite:/d\",\"bytes\":5242880,\"days\":1,\"days_damaged\":2,"
	"\"oldest\":1000000,\"runs\":41,\"runs_bytes\":81920,\"runs_removed\":{\"age\":3,\"count\":0,\"size\":1}},"
	"\"runs\":{\"received\":40,\"stored\":39,\"deduplicated\":0,\"queued\":0,\"posted\":5,\"dropped\":{\"conflict\":1},"
	"\"dropped_by_senders\":{\"no_daemon\":2},\"last\":1000040.5}}";

TEST(status_shows_received_lost_and_stored_samples)
{
	struct buf json, out;

	buf_init(&json);
	buf_init(&out);
	buf_puts(&json, answer);
	CHECK_INT(status_text_put("http://h:1", &json, &out, NULL), 0);
	CHECK_STR(out.data,
		  "strobe 0.1.0 at http://h:1, up 1 h 6 min, ready\n"
		  "samples     1,234,567 received, 1,234,560 stored, 3 queued; last: 10 s ago\n"
		  "dropped     queue_full 4; in queues of removed sinks: 1,200\n"
		  "lost by PHP socket_full 12, refused 1\n"
		  "commits     99 done, 0 failed; last: 0 s ago\n"
		  "runs        40 received from PHP, 39 stored, 0 queued, 5 posted; dropped: conflict 1; "
		  "lost by PHP: no_daemon 2; last: 1 min 0 s ago\n"
		  "            41 stored (80.0 KB); removed: age 3, size 1\n"
		  "source      unix:/run/s: 14 processes connected, 7,000 messages, rejected: truncated 2\n"
		  "store       sqlite:/d: 5.0 MB, 1 day since 1970-01-12T13:46:40Z; 2 days are damaged and missing in results: "
		  "see the log, or *.corrupt-* there\n");
	buf_done(&json);
	buf_done(&out);
}

TEST(processes_that_cannot_be_sampled_are_reported)
{
	struct buf json, out;

	buf_init(&json);
	buf_init(&out);
	buf_puts(&json, "{\"version\":\"0.1.0\",\"ready\":true,\"samples\":{\"dropped_by_senders\":{\"refused\":0,\"jit\":1500}}}");
	CHECK_INT(status_text_put("http://h:1", &json, &out, NULL), 0);
	CHECK(strstr(out.data, "lost by PHP jit 1,500\n            jit: PHP processes take no samples, because ") != NULL);
	buf_done(&json);
	buf_done(&out);
}

static const char pipeline[] =
	"{\"version\":\"0.1.0\",\"now\":1000100.5,\"uptime_seconds\":4,\"ready\":true,"
	"\"samples\":{\"received\":75,\"stored\":0,\"queued\":75},\"runs\":{\"received\":9,\"stored\":7,\"queued\":2},\"sources\":["
	"{\"url\":\"redis://h/?stream=s\",\"up\":false,\"state\":\"cannot connect\",\"connections\":1,\"messages\":5,\"lines\":70,"
	"\"rejected\":{\"truncated\":0},\"rejected_lines\":{\"no_count\":2},\"last_message\":1000099,"
	"\"samples\":{\"received\":75,\"stored\":60,\"dropped\":5,\"in_flight\":10},"
	"\"stream\":{\"lag\":9,\"pending\":3,\"acked\":60,\"claimed\":1,\"trimmed_unread\":2}}],"
	"\"sinks\":[{\"url\":\"logs:/l\",\"samples\":{\"handed\":75,\"stored\":60,\"queued\":10,\"dropped\":{\"queue_full\":5}},"
	"\"failing\":true,\"why\":\"the disk is full\",\"lag_seconds\":61.5,\"last_commit\":1000039,"
	"\"counts\":{\"spool_bytes\":4096,\"files\":0}},"
	"{\"url\":\"sqlite:/old\",\"draining\":true,\"samples\":{\"handed\":5,\"stored\":2,\"queued\":3,\"dropped\":{}},"
	"\"runs\":{\"stored\":7,\"deduplicated\":1,\"queued\":2,\"dropped\":{\"conflict\":3}},"
	"\"failing\":true,\"why\":\"it is read-only\",\"last_commit\":1000099}]}";

TEST(sources_and_sinks_are_listed_with_state_and_counts)
{
	struct buf json, out;
	const char *at;

	buf_init(&json);
	buf_init(&out);
	buf_puts(&json, pipeline);
	CHECK_INT(status_text_put("http://h:1", &json, &out, NULL), 0);
	CHECK(strstr(out.data, "\nsamples     75 received, 0 in all sinks, 75 queued for at least one (each sink is below); "));
	CHECK(strstr(out.data, "\nruns        9 received from PHP, 7 in all sinks, 2 queued for at least one, 0 posted"));
	at = strstr(out.data, "source ");
	CHECK(at != NULL);
	CHECK_STR(at ? at : "",
		  "source      redis://h/?stream=s: DOWN, cannot connect\n"
		  "            1 connection, 5 messages, 70 lines (rejected: no_count 2), rejected: none\n"
		  "            75 samples received = 60 in all sinks + 5 dropped + 10 in flight; last: 1 s ago\n"
		  "            9 entries not read yet, 3 not acknowledged, 60 acknowledged, 1 claimed from others, 2 "
		  "trimmed unread\n"
		  "sink        logs:/l: FAILING, the disk is full\n"
		  "            75 samples handed = 60 stored + 10 queued + dropped: queue_full 5; last "
		  "commit: 1 min 1 s ago, oldest batch queued for 1 min 1 s\n"
		  "            spool_bytes 4,096\n"
		  "sink        sqlite:/old (removed, draining): FAILING, it is read-only\n"
		  "            5 samples handed = 2 stored + 3 queued + dropped: none; last commit: 1 s ago\n"
		  "            7 runs stored, 1 deduplicated, 2 queued; dropped: conflict 3\n");
	buf_done(&json);
	buf_done(&out);
}

TEST(the_response_of_another_server_is_an_error)
{
	static const char *const others[] = { "", "<html>", "[1, 2]", "{}", "{\"version\":", "\"version\"", "null" };
	struct buf json, out;
	struct err err;

	buf_init(&json);
	buf_init(&out);
	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		buf_reset(&json);
		buf_puts(&json, others[i]);
		CHECK_INT(status_text_put("http://h:1", &json, &out, &err), -EBADMSG);
		CHECK_STR(err.text, "http://h:1 answers, but is not a strobe daemon");
		CHECK_INT(out.size, 0);
	}
	buf_done(&json);
	buf_done(&out);
}

TEST(users_without_access_to_the_socket_are_named_with_a_remedy)
{
	const struct php_group groups[] = {
		{ .user = "www-data", .name = "php-fpm, pool www", .processes = 4, .blocked_at = "/run/s", .owner_group = "strobe" },
		{ .user = "root", .name = "php", .processes = 1, .may_send = true },
		{ .user = "shop", .name = "php", .processes = 1, .blocked_at = "/run" },
		{ .user = "idle", .name = "php-fpm, pool idle", .blocked_at = "/run" },
	};
	struct buf json, out;
	char *path;

	buf_init(&json);
	buf_init(&out);
	buf_puts(&json, answer);
	path = status_text_socket(&json);
	CHECK_STR(path, "/run/s");
	status_text_put_unreached(groups, ARRAY_SIZE(groups), path, &out);
	CHECK_STR(out.data,
		  "not reached www-data (php-fpm, pool www, 4 processes) may not write to /run/s; add it to the group strobe "
		  "(usermod -aG strobe www-data) and restart that PHP\n"
		  "not reached shop (php, 1 process) may not enter /run; give it the right and restart that PHP\n"
		  "not reached idle (php-fpm, pool idle, no process now) may not enter /run; give it the right and restart that "
		  "PHP\n");
	free(path);
	buf_reset(&json);
	buf_puts(&json, "{\"sources\":[{\"url\":\"resp://127.0.0.1:6379\"},7]}");
	CHECK(status_text_socket(&json) == NULL);
	buf_done(&json);
	buf_done(&out);
}

TEST(a_response_with_unexpected_types_is_harmless)
{
	struct buf json, out;

	buf_init(&json);
	buf_init(&out);
	buf_puts(&json, "{\"version\":7,\"samples\":[],\"sources\":[1,{\"rejected\":\"x\"}],\"store\":\"\\u001b\"}");
	CHECK_INT(status_text_put("http://h:1", &json, &out, NULL), 0);
	CHECK(strstr(out.data, "0 received") != NULL && !strchr(out.data, '\033'));
	buf_done(&json);
	buf_done(&out);
}

TEST_MAIN()
