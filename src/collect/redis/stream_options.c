/* stream_options.c: takes the URL of a stream apart. */
#include "redis_stream_private.h"

#include "clock.h"
#include "mem.h"

#include <ctype.h>
#include <string.h>

#define NAME_MAX_BYTES	256u

static int take_name(const char *name, const char *value, char **ret, struct err *err)
{
	if (!*value || strlen(value) > NAME_MAX_BYTES)
		return err_set(err, -EINVAL, "%s= must have 1 to %u bytes", name, NAME_MAX_BYTES);
	free(*ret);
	*ret = xstrdup(value);
	return 0;
}

static int take_keys(const char *value, struct stream_options *o, struct err *err)
{
	char *end;
	unsigned long v = strtoul(value, &end, 10);

	if (!isdigit((unsigned char)*value) || *end || v < 1 || v > STREAM_KEYS)
		return err_set(err, -EINVAL, "keys=%s: use a number from 1 to %u", value, STREAM_KEYS);
	o->keys = (unsigned)v;
	return 0;
}

static int take_time(const char *name, const char *value, int64_t *ret, struct err *err)
{
	int r = clock_parse_duration(value, ret, err);

	if (r < 0)
		return err_prefix(err, "%s", name);
	return *ret > 0 ? 0 : err_set(err, -EINVAL, "%s=%s: it must be positive", name, value);
}

static int take_trim(const char *value, struct stream_options *o, struct err *err)
{
	if (strcmp(value, "yes") && strcmp(value, "no"))
		return err_set(err, -EINVAL, "trim=%s: use yes or no", value);
	o->trim = !strcmp(value, "yes");
	return 0;
}

static int take(const char *name, const char *value, struct stream_options *o, struct err *err)
{
	int r = source_hints_set(&o->hints, name, value, err);

	if (r)
		return r;
	if (!strcmp(name, "stream"))
		return take_name(name, value, &o->stream, err);
	if (!strcmp(name, "group"))
		return take_name(name, value, &o->group, err);
	if (!strcmp(name, "consumer"))
		return take_name(name, value, &o->consumer, err);
	if (!strcmp(name, "keys"))
		return take_keys(value, o, err);
	if (!strcmp(name, "claim-idle"))
		return take_time(name, value, &o->claim_idle_ns, err);
	if (!strcmp(name, "trim"))
		return take_trim(value, o, err);
	r = redis_url_is_own(&o->url, name, err);
	if (r)
		return r < 0 ? r : 0;
	return err_set(err, -EINVAL, "unknown parameter '%s'; a stream takes stream, group, consumer, keys, "
				     "claim-idle, trim, label.NAME, clock, period%s",
		       name, redis_url_own_names(&o->url));
}

static void default_consumer(struct stream_options *o)
{
	char host[NAME_MAX_BYTES] = "";

	if (gethostname(host, sizeof(host) - 1) || !*host)
		strcpy(host, "strobe");
	o->consumer = xstrdup(host);
}

int stream_options_parse(const char *url, struct stream_options *ret, struct err *err)
{
	int r;

	memset(ret, 0, sizeof(*ret));
	ret->claim_idle_ns = 60 * NS_PER_SECOND;
	ret->trim = true;
	source_hints_init(&ret->hints);
	r = redis_url_parse(url, &ret->url, err);
	for (size_t i = 0; r >= 0 && i < ret->url.parameter_count; i++)
		r = take(ret->url.parameters[i].name, ret->url.parameters[i].value, ret, err);
	if (r >= 0 && !ret->stream)
		r = err_set(err, -EINVAL, "a stream URL looks like redis://host:6379/?stream=strobe&group=strobe");
	if (r >= 0 && !ret->group)
		ret->group = xstrdup("strobe");
	if (r >= 0 && !ret->consumer)
		default_consumer(ret);
	return r < 0 ? err_prefix(err, "cannot collect from '%s'", ret->url.shown ? ret->url.shown : "redis:…") : 0;
}

void stream_options_done(struct stream_options *o)
{
	redis_url_done(&o->url);
	source_hints_done(&o->hints);
	free(o->stream);
	free(o->group);
	free(o->consumer);
	memset(o, 0, sizeof(*o));
}
