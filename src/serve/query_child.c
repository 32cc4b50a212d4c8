/* query_child.c: sets limits, then calls the handler in the child process. */
#include "query_child.h"

#include "answer_file.h"
#include "api.h"
#include "clock.h"
#include "confine.h"
#include "mem.h"
#include "missing.h"
#include "router.h"

#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>

struct message_channel {
	int channel;
	struct buf message;
};

static void send_message(struct message_channel *t)
{
	if (send(t->channel, t->message.data, t->message.size, MSG_NOSIGNAL) < 0)
		_exit(1);
}

static void send_damage(void *data, int64_t day_ns, const char *why)
{
	struct message_channel *t = data;

	query_put_damage(&t->message, day_ns, why);
	send_message(t);
}

static void confine(pid_t parent, const struct query_limits *l)
{
	struct itimerval end = { .it_value = { l->milliseconds / 1000, l->milliseconds % 1000 * 1000 } };

	confine_die_with(parent);
	confine_prefer_oom_kill();
	if (nice(5) < 0)		/* ingest has priority */
		errno = 0;
	signal(SIGXFSZ, SIG_IGN);
	confine_limit(RLIMIT_CORE, 0);
	confine_limit(RLIMIT_FSIZE, l->answer);
	confine_memory(l->memory);
	mem_prefer_huge_pages(l->memory);
	setitimer(ITIMER_REAL, &end, NULL);	/* real time, since a query may also block */
}

static void put_answer(struct response *r, const struct request *q, struct answer_writer *w)
{
	if (r->out_of_memory)
		_exit(MEM_EXIT_STATUS);
	if (w->failed)
		_exit(QUERY_EXIT_ANSWER);
	if (r->body.overflow)
		response_error(r, q, 500, "the answer is above %zu bytes; select a shorter range or fewer labels",
			       r->body.limit);
	w->drain.take(&w->drain, r->body.data, r->body.size);
	if (!answer_writer_end(w))
		_exit(QUERY_EXIT_ANSWER);
}

void query_child(pid_t parent, int channel, int body, const struct query_start *start)
{
	int64_t until_ns = clock_monotonic_ns();
	char *bytes = xmalloc(QUERY_MESSAGE_MAX);
	ssize_t n = recv(channel, bytes, QUERY_MESSAGE_MAX, 0);
	struct source source = { 0 }, *sources[] = { &source };
	struct server_context context = { .options = { .sources = sources } };
	struct message_channel t = { .channel = channel };
	struct answer_writer *w;
	const char *php_socket;
	struct query_limits l;
	struct response r;
	struct request q;
	struct err err = { 0 };

	buf_init(&t.message);
	if (n < 0 || !query_get_request(bytes, (size_t)n, &l, &q, &php_socket))
		_exit(1);
	until_ns += l.milliseconds * (NS_PER_SECOND / 1000);
	/* Graphviz has its own limits, and its libraries need more memory than a small query gets. */
	if (router_draws(&q))
		api_callgraph_start(&context, &err);
	confine(parent, &l);
	source.url = (char *)php_socket;
	context.options.source_count = php_socket ? 1 : 0;
	context.options.source_dirs = start->source_dirs;
	context.options.source_dir_count = start->source_dir_count;
	context.options.service_labels = start->service_labels;
	context.options.service_label_count = start->service_label_count;
	context.max_nodes = l.max_nodes;
	context.refuse_above = l.refuse_above;
	pthread_rwlock_init(&context.lock, NULL);
	w = answer_writer_new(body);
	response_init(&r);
	r.drain = &w->drain;
	if (start->open(start->data, until_ns, &context.options.store, &err) < 0) {
		response_error(&r, &q, store_is_unavailable(err.code) ? 503 : 500, "%s", err.text);
	} else {
		store_on_damage(context.options.store, send_damage, &t);
		router_handle(&context, &q, &r);
		missing_warn(context.options.store, &r);
	}
	put_answer(&r, &q, w);
	query_put_answer(&t.message, &r, w->plain);
	send_message(&t);
	_exit(0);
}
