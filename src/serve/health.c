/* health.c: healthy means that this thread responds; ready means that a source is up and the sinks respond as well. */

#include "health.h"

#include "clock.h"
#include "query_starter.h"

/* Returns NULL if a source is up, else the state of the first one. Pushes are always accepted, which says nothing
 * about configured sources. */
static const char *down_reason(const struct server_context *s, char *text, size_t size)
{
	char state[256] = "";

	for (size_t i = 0; i < s->options.source_count; i++)
		if (s->options.sources[i]->is_up && (s->options.source_count == 1 || !source_takes_pushes(s->options.sources[i])))
			return NULL;
	source_state(s->options.sources[0], state, sizeof(state));
	snprintf(text, size, "no source is up; %s: %s", s->options.sources[0]->url, state);
	return text;
}

static const struct server_sink *failing_sink(const struct server_context *s)
{
	for (size_t i = 0; i < s->options.sink_count; i++)
		if (s->options.sinks[i].counters->failing && !s->options.sinks[i].is_draining)
			return &s->options.sinks[i];
	return NULL;
}

const char *health_reason(const struct server_context *s, char *text, size_t size)
{
	const struct server_sink *failing = failing_sink(s);
	struct err err = { 0 };
	char why[256] = "";

	if (failing)
		sink_why(failing->counters, why, sizeof(why));
	if (!s->options.collector || s->options.source_count == 0)
		snprintf(text, size, "no input is open");
	else if (down_reason(s, text, size))
		return text;
	else if (s->options.store && store_ready(s->options.store, &err) < 0)
		snprintf(text, size, "the store is not ready: %s", err.text);
	else if (s->options.query_starter && !query_starter_is_up(s->options.query_starter))
		snprintf(text, size, "no query is answered: the process that starts them has exited; restart strobe");
	else if (failing)
		snprintf(text, size, "the last commit failed, samples wait in memory for %s: %s", failing->url, why);
	else if (s->options.collector->failing)
		snprintf(text, size, "the last commit failed, samples wait in memory; see the daemon's log");
	else if (s->options.collector->runs_failing)
		snprintf(text, size, "the last commit of runs failed, they wait in memory; see the daemon's log");
	else
		return NULL;
	return text;
}

void health_liveness(struct server_context *s, const struct request *q, struct response *r)
{
	(void)s;
	(void)q;
	buf_puts(&r->body, "ok\n");
}

void health_readiness(struct server_context *s, const struct request *q, struct response *r)
{
	char text[1200];
	const char *reason = health_reason(s, text, sizeof(text));

	if (reason)
		response_error(r, q, 503, "%s", reason);
	else
		buf_puts(&r->body, "ok\n");
}
