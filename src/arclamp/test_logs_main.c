/* test_logs_main.c: writes lines with their times to a tree, for test_arclamp_rule.py.
 *
 *	test-logs CONFIG LINES		CONFIG is an arclamp-log.yaml; LINES has "nanoseconds length\n", each followed by
 *					that many bytes
 *
 * A batch has 100 lines, as if they had come within a second. */
#include "arclamp_config.h"
#include "logs_fixture.h"

int main(int argc, char **argv)
{
	FILE *f = argc == 3 ? fopen(argv[2], "r") : NULL;
	static char line[SOURCE_LINE_MAX];
	struct arclamp_config c;
	struct open_batch *b = NULL;
	struct logs *logs;
	struct err err;
	long long time_ns;
	uint64_t id = 0;
	unsigned size, n = 0;

	if (!f || arclamp_config_read(argv[1], &c, &err) < 0 || logs_open(&c.logs, &logs, &err) < 0) {
		fprintf(stderr, "test-logs: %s\n", f ? err.text : "give a configuration and lines");
		return 1;
	}
	while (fscanf(f, "%lld %u", &time_ns, &size) == 2 && getc(f) == '\n' && size <= sizeof(line) &&
	       fread(line, 1, size, f) == size) {
		if (!b)
			b = open_batch_new(++id);
		fixture_bytes(b, line, size, NULL, time_ns);
		if (++n % 100)
			continue;
		if (fixture_give(logs, b, &err) < 0)
			return 1;
		b = NULL;
	}
	if (b && fixture_give(logs, b, &err) < 0)
		return 1;
	logs_close(logs);
	arclamp_config_done(&c);
	fclose(f);
	return 0;
}
