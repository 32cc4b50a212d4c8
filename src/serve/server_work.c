/* server_work.c: queries and uploads, handled by other threads (workers.h) while the connection is suspended. */
#include "server_parts.h"

#include "clock.h"
#include "router.h"

#include <stddef.h>

/* Runs in an upload thread, since writing to the store may wait for another writer. */
static void answer_upload(void *data)
{
	struct exchange *e = data;

	router_answer(&e->server->context, &e->request, &e->response);
	e->is_answered = true;
	MHD_resume_connection(e->connection);
}

static struct exchange *exchange_of(struct waiting_query *w)
{
	return (struct exchange *)((char *)w - offsetof(struct exchange, waiting));
}

/* Sends the leader's response to a query that was coalesced with it. */
static void answer_follower(struct exchange *e, const struct exchange *leader)
{
	response_copy(&e->response, &leader->response);
	if (leader->answer && !(e->answer = answer_share(leader->answer)))
		queries_refuse(&e->server->context, &e->request, &e->response);
	e->is_answered = true;
	MHD_resume_connection(e->connection);
}

static void end_query(struct exchange *e)
{
	for (struct waiting_query *w = e->waiting.followers, *next; w; w = next) {
		next = w->next;		/* resuming the connection may free `w` */
		answer_follower(exchange_of(w), e);
	}
	e->is_answered = true;
	MHD_resume_connection(e->connection);
}

/* Runs in a query thread. */
static void answer_query(void *data)
{
	struct exchange *e = data;
	struct server_context *context = &e->server->context;

	if (!e->is_large) {
		coalesce_begin(&e->server->waiting, &e->waiting);
		e->request.now_ns = clock_wall_ns();
	}
	if (e->server->is_ending) {
		response_error(&e->response, &e->request, 503, "the daemon is shutting down");
	} else if (!queries_answer(context, &e->request, e->is_large, &e->response, &e->answer)) {
		e->is_large = true;
		if (workers_add(context->large_queries, answer_query, e))
			return;
		queries_refuse(context, &e->request, &e->response);
	}
	end_query(e);
}

static void suspend(struct server *s, struct MHD_Connection *c, struct exchange *e)
{
	e->server = s;
	e->connection = c;
	MHD_suspend_connection(c);
}

enum MHD_Result exchange_begin_upload(struct server *s, struct MHD_Connection *c, struct exchange *e)
{
	struct workers *to = router_is_push(&e->request) ? s->context.pushes : s->context.uploads;

	suspend(s, c, e);
	if (!workers_add(to, answer_upload, e)) {
		e->is_answered = true;
		s->context.http.uploads_busy += !router_removes(&e->request);
		response_error(&e->response, &e->request, 503, "too many profiles are being read or removed at "
			       "this moment; try again");
		MHD_resume_connection(c);
	}
	return MHD_YES;
}

enum MHD_Result exchange_begin_query(struct server *s, struct MHD_Connection *c, struct exchange *e)
{
	suspend(s, c, e);
	e->waiting.request = &e->request;
	if (coalesce_join(&s->waiting, &e->waiting)) {
		s->context.http.queries_shared++;
		return MHD_YES;
	}
	if (!workers_add(s->context.queries, answer_query, e)) {
		coalesce_begin(&s->waiting, &e->waiting);
		queries_refuse(&s->context, &e->request, &e->response);
		end_query(e);
	}
	return MHD_YES;
}
