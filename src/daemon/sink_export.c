/* sink_export.c: batches to receivers of OTLP and to Pyroscope. */

#include "sinks.h"

#include "exporter.h"
#include "mem.h"

struct export_sink {
	struct sink base;
	struct exporter *exporter;
};

static struct sink *export_sink_close(struct sink *base)
{
	struct export_sink *s = (struct export_sink *)base;

	exporter_close(s->exporter);
	free(base->url);
	free(s);
	return NULL;
}

static int export_sink_open(const struct sink_ops *ops, const char *url, struct sink **ret, struct err *err)
{
	struct export_sink *s;
	struct exporter *exporter;
	int r = exporter_open(url, &exporter, err);

	if (r < 0)
		return r;
	s = xcalloc(1, sizeof(*s));
	s->base.ops = ops;
	s->base.url = xstrdup(exporter_url(exporter));
	s->base.port = exporter_sink(exporter);
	s->exporter = exporter;
	*ret = &s->base;
	return 0;
}

static size_t figures(void *sink, struct sink_metric *ret, size_t max)
{
	const struct exporter_counters *c = exporter_counters(((struct export_sink *)sink)->exporter);
	const struct sink_metric all[] = {
		{ "export_requests_total", "Requests sent.", NULL, NULL, c->requests },
		{ "export_bytes_total", "Bytes of the bodies of sent requests.", NULL, NULL, c->bytes },
		{ "export_retried_requests_total", "Requests that failed and were or will be retried.", NULL, NULL,
		  c->retried_requests },
		{ "export_rejected_requests_total", "Requests that the receiver rejected "
						    "permanently.",
		  NULL, NULL, c->rejected_requests },
		{ "export_rejected_samples_total", "Samples of requests that the receiver rejected "
						   "permanently.",
		  NULL, NULL, c->rejected_samples },
		{ "export_rejected_profiles_total", "Profiles that the receiver rejected from "
						    "accepted requests.",
		  NULL, NULL,
		  c->rejected_profiles },
	};

	if (max < ARRAY_SIZE(all))
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		ret[i] = all[i];
	return ARRAY_SIZE(all);
}

static int otlp_open(const char *url, const struct sink_options *o, struct sink **ret, struct err *err)
{
	(void)o;
	return export_sink_open(&sink_otlp_ops, url, ret, err);
}

static int pyroscope_open(const char *url, const struct sink_options *o, struct sink **ret, struct err *err)
{
	(void)o;
	return export_sink_open(&sink_pyroscope_ops, url, ret, err);
}

const struct sink_ops sink_otlp_ops = { .scheme = "otlp", .open = otlp_open, .figures = figures, .close = export_sink_close };
const struct sink_ops sink_pyroscope_ops = { .scheme = "pyroscope", .open = pyroscope_open, .figures = figures,
					     .close = export_sink_close };
