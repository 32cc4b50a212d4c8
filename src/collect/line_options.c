/* line_options.c: names and values of a query. */

#include "line_options.h"

#include "mem.h"
#include "text.h"

#include <string.h>

static int decode(char *text, struct err *err)
{
	size_t n;

	if (text_unescape_url(text, strlen(text), &n) < 0)
		return err_set(err, -EINVAL, "'%.60s': %% must be followed by two hexadecimal "
					     "digits, as in %%20", text);
	return 0;
}

static int set(struct line_options *o, const char *name, const char *value, struct err *err)
{
	int r = source_hints_set(&o->hints, name, value, err);

	if (r != 0)
		return r;
	if (strcmp(name, "channel"))
		return err_set(err, -EINVAL, "unknown parameter '%.60s'; use label.NAME, channel, clock "
			       "and period", name);
	free(o->channel);
	o->channel = xstrdup(value);
	return 0;
}

int line_options_parse(const char *query, struct line_options *ret, struct err *err)
{
	_cleanup_(freep) char *copy = query ? xstrdup(query) : NULL;
	char *rest = copy, *part;
	int r = 0;

	*ret = (struct line_options){ 0 };
	source_hints_init(&ret->hints);
	while (r >= 0 && (part = strsep(&rest, "&"))) {
		char *value = strchr(part, '=');

		if (!*part)
			continue;
		if (!value)
			return err_set(err, -EINVAL, "'%.60s' has no value; write NAME=VALUE", part);
		*value++ = '\0';
		if ((r = decode(part, err)) >= 0 && (r = decode(value, err)) >= 0)
			r = set(ret, part, value, err);
	}
	return r < 0 ? r : 0;
}

void line_options_done(struct line_options *o)
{
	source_hints_done(&o->hints);
	free(o->channel);
}
