/* sink_logs.c: folded lines to trace logs in Arc Lamp's tree. */

#include "sinks.h"

#include "log.h"
#include "logs.h"
#include "mem.h"

#include <string.h>

struct logs_sink {
	struct sink base;
	struct logs *logs;
};

static struct sink *logs_sink_close(struct sink *base)
{
	struct logs_sink *s = (struct logs_sink *)base;

	logs_close(s->logs);
	free(base->url);
	free(s);
	return NULL;
}

/* Arc Lamp's configuration applies to the tree it names; another tree gets the usual hours and days. */
static const struct logs_options *options_of(const struct logs_options *configured, const struct logs_options *usual)
{
	return configured && !strcmp(configured->base, usual->base) ? configured : usual;
}

static int open_logs(const char *url, const struct logs_options *configured, struct logs **ret, struct err *err)
{
	struct logs_options usual;
	int r = logs_options_from_url(url, &usual, err);

	if (r >= 0)
		r = logs_open(options_of(configured, &usual), ret, err);
	logs_options_done(&usual);
	return r;
}

static void set_options(struct sink *base, const struct sink_options *o)
{
	struct logs_options usual;
	struct err err = { 0 };
	int r = logs_options_from_url(base->url, &usual, &err);

	if (r >= 0)
		r = logs_change(((struct logs_sink *)base)->logs, options_of(o->logs, &usual), &err);
	if (r < 0)
		log_error("%s keeps its old groups: %s", base->url, err.text);
	logs_options_done(&usual);
}

static int logs_sink_open(const char *url, const struct sink_options *o, struct sink **ret, struct err *err)
{
	struct logs_sink *s;
	struct logs *logs;
	int r = open_logs(url, o->logs, &logs, err);

	if (r < 0)
		return r;
	s = xcalloc(1, sizeof(*s));
	s->base.ops = &sink_logs_ops;
	s->base.port = logs_sink(logs);
	s->base.url = xstrdup(s->base.port.url);
	s->logs = logs;
	*ret = &s->base;
	return 0;
}

static size_t figures(void *sink, struct sink_metric *ret, size_t max)
{
	const struct logs_counters *c = logs_counters(((struct logs_sink *)sink)->logs);
	const struct sink_metric all[] = {
		{ "logs_written_lines_total", "Lines written to trace logs, counted in each file.", NULL, NULL,
		  c->lines },
		{ "logs_written_bytes_total", "Bytes written to trace logs.", NULL, NULL, c->bytes },
		{ "logs_other_lines_total", "Lines whose entry point became the tag `other`.", NULL, NULL,
		  c->lines_other },
		{ "logs_created_files_total", "Trace logs created.", NULL, NULL, c->files_made },
		{ "logs_removed_files_total", "Trace logs that were removed by retention.", NULL, NULL,
		  c->files_removed },
		{ "logs_rolled_back_batches_total", "Batches that were partially written and rolled back.", NULL, NULL,
		  c->batches_rolled_back },
		{ "logs_deduplicated_batches_total", "Batches delivered again and deduplicated.", NULL, NULL, c->batches_deduplicated },
		{ "logs_open_files", "Trace logs that are open.", NULL, NULL, c->files_open },
		{ "logs_tags", "Entry points that have files.", NULL, NULL, c->tags },
	};

	if (max < ARRAY_SIZE(all))
		return 0;
	memcpy(ret, all, sizeof(all));
	return ARRAY_SIZE(all);
}

static bool state(void *sink, char *text, size_t size)
{
	return !logs_last_error(((struct logs_sink *)sink)->logs, text, size);
}

const struct sink_ops sink_logs_ops = {
	.scheme = "logs",
	.open = logs_sink_open,
	.set_options = set_options,
	.figures = figures,
	.state = state,
	.close = logs_sink_close,
};
