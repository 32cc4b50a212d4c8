/* logs_sink.c: measures the cost of writing trace logs per line.
 *
 * Lines like those of a large site, generated, the same every time: 971 bytes each, five entry points, two groups
 * (hours and days), so that each line goes to four files. They are committed in batches of 50,000, each durable
 * before the next begins.
 *
 *	logs_sink [-n LINES] [-d DIRECTORY]
 *
 * Prints lines of name, value, unit and remark, with tabs between them. */
#include "clock.h"
#include "logs.h"
#include "mem.h"

#include <assert.h>
#include <ftw.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#define LINE_BYTES	971u
#define BATCH_LINES	50000u
#define ENTRIES		5u
#define START_NS	(1795284000LL * NS_PER_SECOND)

static char *bytes;				/* one batch's lines */
static struct batch_line lines[BATCH_LINES];
static struct batch_entry entries[ENTRIES];
static struct labels labels[ENTRIES];

static void make_line(char *to, size_t i)
{
	static const char *const names[ENTRIES] = { "index", "api", "load", "rest", "jobs" };
	int n = snprintf(to, LINE_BYTES, "/srv/site/w/%s.php", names[i % ENTRIES]);

	for (unsigned k = 0; n < (int)LINE_BYTES - 2; k++)
		n += snprintf(to + n, LINE_BYTES - 1 - (size_t)n, ";Some\\Space\\Class%zu::method%u", i * 7 % 1000, k);
	memcpy(to + LINE_BYTES - 2, " 1", 2);
}

static void make_batch(struct batch *b)
{
	static const char *const names[ENTRIES] = { "index", "api", "load", "rest", "jobs" };

	bytes = xmalloc((size_t)BATCH_LINES * LINE_BYTES);
	for (size_t i = 0; i < ENTRIES; i++) {
		labels_set(&labels[i], "entry", 5, names[i], strlen(names[i]));
		entries[i] = (struct batch_entry){ .labels = &labels[i], .profile = profile_new(), .from_lines = true };
	}
	for (size_t i = 0; i < BATCH_LINES; i++) {
		char *to = bytes + i * LINE_BYTES;

		make_line(to, i);
		lines[i] = (struct batch_line){ to, LINE_BYTES, (uint32_t)(i % ENTRIES), START_NS };
	}
	*b = (struct batch){ .entries = entries, .count = ENTRIES, .lines = lines, .line_count = BATCH_LINES };
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *f)
{
	return remove(path);
}

static double seconds(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int run(const char *directory, uint64_t wanted)
{
	_cleanup_(freep) char *url = xasprintf("logs:%s", directory);
	struct logs_options o;
	struct collector_sink sink;
	struct logs *logs;
	struct batch b;
	struct err err;
	double cpu, wall;
	uint64_t n = 0;

	make_batch(&b);
	if (logs_options_from_url(url, &o, &err) < 0 || logs_open(&o, &logs, &err) < 0) {
		fprintf(stderr, "logs_sink: %s\n", err.text);
		return 1;
	}
	sink = logs_sink(logs);
	cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
	wall = seconds(CLOCK_MONOTONIC);
	for (; n < wanted; n += BATCH_LINES) {
		for (size_t i = 0; i < BATCH_LINES; i++)
			lines[i].time_ns = START_NS + (int64_t)(n / BATCH_LINES) * NS_PER_SECOND;
		b.id++;
		if (sink.commit(sink.data, &b, &err) < 0) {
			fprintf(stderr, "logs_sink: %s\n", err.text);
			return 1;
		}
	}
	cpu = seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu;
	wall = seconds(CLOCK_MONOTONIC) - wall;
	printf("logs_sink: CPU\t%.2f\tus/line\t%u-byte lines to 4 files each, synced each %u lines\n", cpu / (double)n * 1e6,
	       LINE_BYTES, BATCH_LINES);
	printf("logs_sink: lines of one core\t%.0f\tlines/s\tuser and system time\n", (double)n / cpu);
	printf("logs_sink: lines with the disk\t%.0f\tlines/s\t%.0f MB/s\n", (double)n / wall,
	       (double)logs_counters(logs)->bytes / wall / 1e6);
	logs_close(logs);
	logs_options_done(&o);
	return 0;
}

int main(int argc, char **argv)
{
	char made[] = "/tmp/strobe-logs-sink-XXXXXX";
	const char *directory = NULL;
	uint64_t wanted = 300000;
	int c, r;

	while ((c = getopt(argc, argv, "n:d:")) != -1) {
		if (c == 'n')
			wanted = strtoull(optarg, NULL, 10);
		else if (c == 'd')
			directory = optarg;
		else
			return 1;
	}
	if (!directory && !mkdtemp(made))
		return 1;
	r = run(directory ? directory : made, wanted);
	if (!directory)
		nftw(made, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	return r;
}
