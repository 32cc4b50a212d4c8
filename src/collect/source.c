/* source.c: from the scheme of a URL to the source that speaks it. */

#include "source.h"

#include "unix_source.h"

#include <string.h>

static const struct source_ops *const schemes[] = { &unix_source_ops };

static const struct source_ops *find(const char *url)
{
	if (*url == '/')		/* a bare path is what people type */
		return &unix_source_ops;
	for (size_t i = 0; i < ARRAY_SIZE(schemes); i++) {
		size_t n = strlen(schemes[i]->scheme);

		if (!strncmp(url, schemes[i]->scheme, n) && url[n] == ':')
			return schemes[i];
	}
	return NULL;
}

int source_open(const char *url, struct loop *loop, source_got *got, void *data, struct source **ret, struct err *err)
{
	const struct source_ops *ops = find(url);

	if (!ops)
		return err_set(err, -EINVAL, "cannot collect from '%s': a source looks like unix:/path/of/socket", url);
	return ops->open(url, loop, got, data, ret, err);
}

struct source *source_close(struct source *s)
{
	return s ? s->ops->close(s) : NULL;
}
