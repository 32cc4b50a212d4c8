/* test_metrics.c: every line is valid for Prometheus, and the names that people rely on exist. */

#include "clock.h"
#include "fake_store.h"
#include "metrics.h"
#include "test.h"

#include <ctype.h>
#include <math.h>

static struct collector_counters counters;
static struct source source = { .url = (char *)"unix:/run/a\"b\\c\nd.sock", .is_up = true };
static struct source *sources[] = { &source };
static struct sink_counters sink_counters;

static size_t figures(void *data, struct sink_metric *ret, size_t max)
{
	ret[0] = (struct sink_metric){ .name = "spool_bytes", .help = "Size of the spool.", .number = 77 };
	ret[1] = (struct sink_metric){ .name = "spool_dropped_total", .help = "Lost.", .key = "reason", .value = "cap", .number = 3 };
	return 2;
}

/* Two sinks, so that each name must have both series below it. */
static const struct server_sink sinks[] = {
	{ .url = "sqlite:/a", .counters = &sink_counters, .figures = figures },
	{ .url = "redis://h/?stream=s", .counters = &sink_counters, .figures = figures },
};

static void put(struct server_context *s, struct buf *out)
{
	*s = (struct server_context){ .options = { .store = &fake_store, .collector = &counters, .sources = sources,
					 .source_count = 1, .sinks = sinks, .sink_count = 2 },
						 .start_ns = 5 * NS_PER_SECOND };
	buf_init(out);
	metrics_put(s, 65 * NS_PER_SECOND, 1234567, out);
}

/* name{key="value",…} number */
static bool is_sample(const char *line, char *ret_name, size_t size)
{
	const char *p = line;
	char *end;

	while (isalnum((unsigned char)*p) || *p == '_')
		p++;
	snprintf(ret_name, size, "%.*s", (int)(p - line), line);
	if (p == line)
		return false;
	if (*p == '{') {
		do {
			p++;
			while (isalnum((unsigned char)*p) || *p == '_')
				p++;
			if (*p++ != '=' || *p++ != '"')
				return false;
			for (; *p && *p != '"'; p++)
				if (*p == '\\' && !strchr("\\\"n", *++p))
					return false;
			if (*p++ != '"')
				return false;
		} while (*p == ',');
		if (*p++ != '}')
			return false;
	}
	if (*p++ != ' ' || !*p)
		return false;
	return !isnan(strtod(p, &end)) && *end == '\0';
}

TEST(each_line_is_help_type_or_a_sample_of_the_preceding_family)
{
	_cleanup_(buf_done) struct buf out;
	struct server_context s;
	char family[128] = "", name[128];
	unsigned samples = 0;

	put(&s, &out);
	CHECK(out.data[out.size - 1] == '\n');
	for (char *line = strtok(out.data, "\n"); line; line = strtok(NULL, "\n")) {
		char type[16];

		if (strncmp(line, "# HELP ", 7) == 0)
			continue;
		if (sscanf(line, "# TYPE %127s %15s", family, type) == 2) {
			CHECK(strcmp(type, "counter") == 0 || strcmp(type, "gauge") == 0);
			continue;
		}
		samples++;
		if (!is_sample(line, name, sizeof(name)))
			CHECK_STR(line, "a sample");
		CHECK_STR(name, family);
	}
	CHECK(samples > 60);
}

static void check_line(const char *text, const char *line)
{
	char whole[256];

	snprintf(whole, sizeof(whole), "\n%s\n", line);
	if (!strstr(text, whole))
		CHECK_STR("not there", line);
}

TEST(counters_are_exported_under_the_names_that_dashboards_use)
{
	_cleanup_(buf_done) struct buf out;
	struct server_context s;

	counters.samples_received = 100;
	counters.samples_stored = 90;
	counters.samples_dropped_queue = 7;
	counters.sender_drops[STROBE_DROP_FULL] = 3;
	counters.sender_drops[STROBE_DROP_JIT] = 8;
	counters.last_sample_ns = 1234567891234567890;
	source.counters.messages = 11;
	source.counters.rejected[STROBE_WIRE_BAD_MAGIC] = 2;
	put(&s, &out);
	check_line(out.data, "strobe_build_info{version=\"" STROBE_VERSION "\"} 1");
	check_line(out.data, "strobe_samples_received_total 100");
	check_line(out.data, "strobe_samples_stored_total 90");
	check_line(out.data, "strobe_samples_dropped_total{reason=\"queue_full\"} 7");
	check_line(out.data, "strobe_samples_dropped_total{reason=\"socket_full\"} 3");
	check_line(out.data, "strobe_samples_dropped_total{reason=\"jit\"} 8");
	check_line(out.data, "strobe_last_sample_timestamp_seconds 1234567891.234567");
	check_line(out.data, "strobe_store_bytes 4096");
	check_line(out.data, "strobe_store_commit_seconds_total 1.500000");
	check_line(out.data, "strobe_store_commit_seconds_max 0.020000");
	check_line(out.data, "strobe_uptime_seconds 60.000000");
	check_line(out.data, "process_resident_memory_bytes 1234567");
	check_line(out.data, "strobe_ready 1");
	check_line(out.data, "strobe_http_requests_total{code=\"404\"} 0");
	CHECK(strstr(out.data, "strobe_messages_received_total{source=\"unix:/run/a\\\"b\\\\c") != NULL);
	CHECK(strstr(out.data, "d.sock\",reason=\"bad_magic\"} 2\n") != NULL);
}

TEST(samples_of_each_source_and_sink_add_up)
{
	_cleanup_(buf_done) struct buf out;
	struct server_context s;

	source.counters.samples_received = 100;
	source.counters.samples_stored = 90;
	source.counters.samples_dropped = 7;
	source.counters.samples_in_flight = 3;
	source.counters.connections_closed_slow = 2;
	source.counters.connections_closed_idle = 4;
	sink_counters.samples_handed = 50;
	sink_counters.samples_stored = 30;
	sink_counters.samples_queued = 14;
	sink_counters.samples_dropped_queue = 5;
	sink_counters.samples_dropped_rejected = 1;
	put(&s, &out);
	CHECK(strstr(out.data, "strobe_source_samples_in_flight{source=\"unix:/run/a\\\"b\\\\c") != NULL);
	CHECK(strstr(out.data, "\nstrobe_connections_closed_total{source=\"unix:/run/a\\\"b\\\\c") != NULL);
	CHECK(strstr(out.data, "d.sock\",reason=\"slow\"} 2\n") && strstr(out.data, "d.sock\",reason=\"idle\"} 4\n"));
	check_line(out.data, "strobe_sink_samples_handed_total{sink=\"sqlite:/a\"} 50");
	check_line(out.data, "strobe_sink_samples_stored_total{sink=\"redis://h/?stream=s\"} 30");
	check_line(out.data, "strobe_sink_samples_queued{sink=\"sqlite:/a\"} 14");
	check_line(out.data, "strobe_sink_samples_dropped_total{sink=\"sqlite:/a\",reason=\"queue_full\"} 5");
	check_line(out.data, "strobe_spool_bytes{sink=\"redis://h/?stream=s\"} 77");
	check_line(out.data, "strobe_spool_dropped_total{sink=\"sqlite:/a\",reason=\"cap\"} 3");
}

TEST(a_draining_sink_affects_neither_readiness_nor_uniqueness_of_series)
{
	static struct sink_counters fine, draining = { .samples_handed = 7, .samples_queued = 7, .failing = true };
	static const struct server_sink some[] = {
		{ .url = "sqlite:/a", .counters = &fine },
		{ .url = "redis://h/?stream=s", .counters = &draining, .is_draining = true },
		{ .url = "sqlite:/a", .counters = &draining, .is_draining = true },
	};
	_cleanup_(buf_done) struct buf out;
	struct server_context s;

	put(&s, &out);
	buf_reset(&out);
	s.options.sinks = some;
	s.options.sink_count = ARRAY_SIZE(some);
	counters.removed_sink_samples = 12;
	counters.removed_sink_runs = 3;
	metrics_put(&s, 65 * NS_PER_SECOND, 1234567, &out);
	check_line(out.data, "strobe_ready 1");
	check_line(out.data, "strobe_sink_draining{sink=\"sqlite:/a\"} 0");
	check_line(out.data, "strobe_sink_draining{sink=\"redis://h/?stream=s\"} 1");
	check_line(out.data, "strobe_sink_failing{sink=\"redis://h/?stream=s\"} 1");
	check_line(out.data, "strobe_sink_samples_queued{sink=\"redis://h/?stream=s\"} 7");
	check_line(out.data, "strobe_sink_samples_queued{sink=\"sqlite:/a\"} 0");
	CHECK(!strstr(out.data, "strobe_sink_samples_queued{sink=\"sqlite:/a\"} 7"));
	check_line(out.data, "strobe_removed_sink_samples_dropped_total 12");
	check_line(out.data, "strobe_removed_sink_runs_dropped_total 3");
}

TEST(the_daemon_is_not_ready_while_no_source_is_up)
{
	_cleanup_(buf_done) struct buf out;
	struct server_context s;

	source.is_up = false;
	put(&s, &out);
	check_line(out.data, "strobe_ready 0");
	source.is_up = true;
	sink_counters.failing = true;
	buf_done(&out);
	put(&s, &out);
	sink_counters.failing = false;
	check_line(out.data, "strobe_ready 0");
}

TEST(the_daemon_is_not_ready_while_the_store_fails)
{
	_cleanup_(buf_done) struct buf out;
	struct server_context s;

	fake_store_fails = 1;
	put(&s, &out);
	fake_store_fails = 0;
	check_line(out.data, "strobe_ready 0");
}

TEST_MAIN()
