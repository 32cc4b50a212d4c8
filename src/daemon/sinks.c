/* sinks.c: from the scheme of a URL to the sink that it names. */

#include "sinks.h"

#include "mem.h"

#include <string.h>

static const struct sink_ops *const kinds[] = { &sink_store_ops, &sink_clickhouse_ops, &sink_relay_ops, &sink_relay_tls_ops,
						&sink_logs_ops, &sink_otlp_ops, &sink_pyroscope_ops };

static const struct sink_ops *find(const char *url)
{
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		size_t n = strlen(kinds[i]->scheme);

		if (!strncmp(url, kinds[i]->scheme, n) && url[n] == ':')
			return kinds[i];
	}
	return NULL;
}

int sink_open(const char *url, const struct sink_options *o, struct sink **ret, struct err *err)
{
	_cleanup_(freep) char *store_url = *url == '/' ? xasprintf("sqlite:%s", url) : NULL;	/* a plain path is a store, too */
	const struct sink_ops *ops = find(store_url ? store_url : url);

	if (!strncmp(url, "resp:", 5))
		return err_set(err, -EINVAL, "resp: is only a source, since it cannot acknowledge samples; put "
					     "a Redis between this collector and the other: --to "
			       "redis://HOST/?stream=NAME here, --from redis://HOST/?stream=NAME&group=NAME there");
	if (!ops)
		return err_set(err, -EINVAL, "cannot send to '%.*s': a sink looks like sqlite:DIR, "
			       "clickhouse://HOST:8123/DATABASE, logs:DIR, redis://HOST/?stream=NAME, "
			       "otlp://HOST:4318 or pyroscope://HOST:4040",
			       /* no passwords */
			       (int)(strchr(url, '@') ? strcspn(url, ":") : strnlen(url, 200)), url);
	return ops->open(store_url ? store_url : url, o, ret, err);
}

struct sink *sink_close(struct sink *s)
{
	return s ? s->ops->close(s) : NULL;
}
