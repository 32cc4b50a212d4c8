/* feed_conflicts.c: sources and sinks that one configuration must not have together, and errors about its items. */

#include "daemon_private.h"

#include "mem.h"
#include "secrets.h"
#include "sink_place.h"

#include <string.h>

/* --- Errors --- */

/* Whether a sentence has the URL, or the path in it. */
static bool names(const char *sentence, const char *url)
{
	size_t scheme = strcspn(url, ":");

	if (strstr(sentence, url))
		return true;
	return url[scheme] && url[scheme + 1] == '/' && url[scheme + 2] && url[scheme + 2] != '/' && !strchr(url, '?') &&
	       strstr(sentence, url + scheme + 1);
}

int daemon_locate(const struct daemon *d, const char *option, const char *url, struct err *err)
{
	_cleanup_(freep) char *shown = secrets_shown(url);
	const char *place = d->options.place ? d->options.place(option, url) : NULL;

	if (*url != '-' && !names(err->text, shown))
		err_prefix(err, "%.300s", shown);
	return place ? err_prefix(err, "%s", place) : err->code;
}

/* "redis://h/?stream=s (strobe.yaml:3)" */
static char *describe(const struct daemon *d, const char *option, const char *url)
{
	_cleanup_(freep) char *shown = secrets_shown(url);
	const char *place = d->options.place ? d->options.place(option, url) : NULL;

	return place ? xasprintf("%.250s (%s)", shown, place) : xasprintf("%.250s", shown);
}

/* --- Rules for pairs --- */

/* Other spellings of the same input or place are found later, when they are opened. */
static const struct rule {
	const char *option, *other_option;
	bool (*is_broken)(const char *url, const char *other);
	const char *sentence;			/* with `url`, then `other` */
} rules[] = {
	{ "to", "to", feeds_same_url, "%.250s and %s are the same sink; remove one of them" },
	{ "from", "from", feeds_same_url, "%.250s and %s are the same source; remove one of them" },
	{ "to", "from", sink_feeds_source, "the sink %.250s writes to the stream that the source %s reads, so each sample would be received "
					   "again without end; remove one of them" },
	/* Each group gets all entries, which is right for two daemons, but not for the sinks of one. */
	{ "from", "from", sources_share_stream, "%.250s and %s are two groups of one stream, so each entry would count twice; remove one of "
						"them" },
};

struct items {
	const char *const *urls;
	size_t count;
};

static struct items items_of(const struct daemon_options *n, const char *option)
{
	return strcmp(option, "from") ? (struct items){ n->sinks, n->sink_count } : (struct items){ n->sources, n->source_count };
}

static int conflict(const struct daemon *d, const struct rule *rule, const char *url, const char *other, struct err *err)
{
	_cleanup_(freep) char *shown = secrets_shown(url), *described = describe(d, rule->other_option, other);

	if (strcmp(url, other) == 0 && rule->is_broken == feeds_same_url)
		err_set(err, -EEXIST, "%.250s is listed twice; remove one of them", shown);
	else
		err_set(err, -EEXIST, rule->sentence, shown, described);
	return daemon_locate(d, rule->option, url, err);
}

static int check_rule(const struct daemon *d, const struct daemon_options *n, const struct rule *rule, struct err *err)
{
	struct items items = items_of(n, rule->option), others = items_of(n, rule->other_option);
	bool is_one_list = items.urls == others.urls;

	for (size_t i = 0; i < items.count; i++)
		for (size_t k = 0; k < (is_one_list ? i : others.count); k++)
			if (rule->is_broken(items.urls[i], others.urls[k]))
				return conflict(d, rule, items.urls[i], others.urls[k], err);
	return 0;
}

/* --- Servers of ClickHouse, which would count each sample twice --- */

static int check_server(const struct daemon *d, const char *sink, const char *other, bool is_page, struct err *err)
{
	_cleanup_(freep) char *server = other ? sinks_shared_server(other, sink) : NULL;

	if (!server)
		return 0;
	if (is_page)
		err_set(err, -EEXIST, "the store of the page and a sink write to one database of the ClickHouse server %s, which would count "
				      "each sample twice; remove the sink",
			server);
	else
		err_set(err, -EEXIST, "two sinks write to one database of the ClickHouse server %s, which would count each sample twice; "
				      "remove one of them",
			server);
	return daemon_locate(d, "to", sink, err);
}

/* Checks both stores of the page: the one in use, and the one that `n` sets for the next start. */
static int check_servers(const struct daemon *d, const struct daemon_options *n, struct err *err)
{
	int r = 0;

	for (size_t i = 0; i < n->sink_count && r >= 0; i++) {
		if ((r = check_server(d, n->sinks[i], d->options.store_url, true, err)) >= 0)
			r = check_server(d, n->sinks[i], n->store_url, true, err);
		for (size_t k = 0; k < i && r >= 0; k++)
			r = check_server(d, n->sinks[i], n->sinks[k], false, err);
	}
	return r;
}

static int check_sink_count(const struct daemon *d, const struct daemon_options *n, struct err *err)
{
	size_t most = COLLECTOR_SINKS - (d->options.store_url != NULL);

	if (n->sink_count <= most)
		return 0;
	err_set(err, -E2BIG, "there are more than %u sinks; remove some", COLLECTOR_SINKS);
	return daemon_locate(d, "to", n->sinks[most], err);
}

int daemon_check_conflicts(const struct daemon *d, const struct daemon_options *n, struct err *err)
{
	int r = check_sink_count(d, n, err);

	for (size_t i = 0; i < ARRAY_SIZE(rules) && r >= 0; i++)
		r = check_rule(d, n, &rules[i], err);
	return r < 0 ? r : check_servers(d, n, err);
}
