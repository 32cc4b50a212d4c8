/* send_runs.c: labels, URL and id of a run, and sending it. */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "send_runs.h"

#include "php_strobe.h"
#include "request_url.h"
#include "socket_path.h"
#include "trigger.h"

#include "SAPI.h"

#include <stdatomic.h>
#include <stdlib.h>

static _Atomic uint64_t sent, lost[STROBE_DROP_REASONS];

#define DRAIN_NS 10000000

static void drain(struct strobe_timer *timer, uint64_t periods, const struct tick_snapshot *m)
{
	struct api_thread *a = api_thread();

	sender_drain(&a->sender, false);
	if (!sender_waits(&a->sender))
		timer_stop(timer);
}

/* Without a timer, queued data is sent with the next message or at the end of the request. */
void runs_drain(struct api_thread *a)
{
	if (EXPECTED(!sender_waits(&a->sender)) || a->drain.running)
		return;
	a->drain = (struct strobe_timer){ .expired = drain, .owner = a, .passive = true };
	timer_start(&a->drain, TIMER_WALL, DRAIN_NS, DRAIN_NS);
}

void runs_hide_secret(struct request_labels *l)
{
	for (unsigned i = 0; i < l->count; i++)
		if (trigger_is_in(l->items[i].value, strlen(l->items[i].value)))
			strcpy(l->items[i].value, "(hidden)");
}

int runs_status(void)
{
	int code = SG(sapi_headers).http_response_code;

	if (!*STROBE_G(method))
		return 0;
	return code ? code : 200;
}

void runs_labels(struct request_labels *l)
{
	char status[16];

	request_labels_collect(l);
	if (runs_status()) {
		snprintf(status, sizeof(status), "%d", runs_status());
		request_labels_set(l, ZEND_STRL("http_status"), status, strlen(status));
	}
	if (STROBE_G(own_labels))
		request_labels_add(l, STROBE_G(own_labels));
	runs_hide_secret(l);
}

const char *runs_source(const struct work *w, const struct request_labels *l)
{
	for (unsigned i = 0; i < l->count; i++)
		if (strcmp(l->items[i].key, "source") == 0 &&
		    strobe_wire_is_run_key(l->items[i].value, strlen(l->items[i].value)))
			return l->items[i].value;
	return w->source;
}

void runs_send_open(struct api_thread *a, const struct call_tree *t, const struct work *w, const struct request_labels *labels)
{
	const struct run_info info = {
		.open = true,
		.source = runs_source(w, labels),
		.id = w->id,
		.url = *a->url ? a->url : NULL,
		.attributes = w->attributes,
		.pid = (uint32_t)a->pid,
	};
	char path[108];

	if (!socket_path(path, sizeof(path)))
		return;
	run_message_send(&a->sender, path, t, &info, labels);
	runs_drain(a);
}

int runs_send(struct api_thread *a, const struct call_tree *t, const char *source, const char *name,
	      const struct request_labels *labels, const struct request_labels *attributes, char id[33])
{
	char url[STROBE_WIRE_LABEL_VALUE + 1], path[108];
	struct run_info info = {
		.source = source,
		.id = id,
		.name = name,
		.attributes = attributes,
		.pid = (uint32_t)a->pid,
	};
	int reason;

	if (!*id)
		random_id(&a->random, id);
	if (*a->url)
		info.url = a->url;
	else if (request_url(url, sizeof(url)))
		info.url = url;
	if (!socket_path(path, sizeof(path))) {
		runs_lost(a, STROBE_DROP_NO_DAEMON);
		return STROBE_DROP_NO_DAEMON;
	}
	reason = run_message_send(&a->sender, path, t, &info, labels);
	runs_drain(a);
	atomic_fetch_add(reason ? &lost[reason] : &sent, 1);
	return reason;
}

void runs_lost(struct api_thread *a, int reason)
{
	sender_lost(&a->sender, reason, 1);
	atomic_fetch_add(&lost[reason], 1);
}

void runs_counts(struct runs_counts *ret)
{
	ret->sent = atomic_load(&sent);
	for (unsigned i = 0; i < STROBE_DROP_REASONS; i++)
		ret->lost[i] = atomic_load(&lost[i]);
}
