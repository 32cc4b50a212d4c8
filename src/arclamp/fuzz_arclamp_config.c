/* fuzz_arclamp_config.c: parses any bytes as arclamp-log.yaml. An accepted file must yield file names that are
 * recognized as ours, and a URL that parses again. */
#include "arclamp_config.h"

#include "log_name.h"
#include "redis_url.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_group(const struct logs_group *g)
{
	char file[LOG_TIME_MAX + 32];
	struct str tags[LOG_NAME_TAGS];
	struct log_name n;
	bool found = false;
	size_t count;

	if (log_name_init(&n, g->format, NULL) < 0 || !g->sample_pop || strchr(g->period, '/'))
		abort();
	for (int64_t t = 0; t < 4102444800; t += 123456789) {
		strcpy(file + log_name_time(&n, t, file), ".index.log");
		count = log_name_tags(&n, file, tags);
		for (size_t i = 0; i < count; i++)
			found |= tags[i].n == 5;
		if (strchr(file, '/') || *file == '.' || (count < LOG_NAME_TAGS && !found))
			abort();
	}
	log_name_done(&n);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arclamp_config c = { 0 };
	struct redis_url u = { 0 };
	struct yaml_tree t;

	if (yaml_tree_parse("fuzz.yaml", data, size, &t, NULL) == 0 && arclamp_config_make(t.root, &c, NULL) == 0) {
		for (size_t i = 0; i < c.logs.group_count; i++)
			check_group(&c.logs.groups[i]);
		if (!c.source_url == !c.source_problem)
			abort();
		if (c.source_url && strlen(c.source_url) <= URL_MAX &&
		    redis_url_parse(c.source_url, &u, NULL) < 0)
			abort();
	}
	redis_url_done(&u);
	arclamp_config_done(&c);
	yaml_tree_done(&t);
	return 0;
}
