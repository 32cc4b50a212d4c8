/* coalesce.c: a list under a lock, never longer than the queue of queries. */
#include "coalesce.h"

#include <string.h>

void coalesce_init(struct coalesce *c)
{
	pthread_mutex_init(&c->lock, NULL);
	c->leaders = NULL;
}

void coalesce_done(struct coalesce *c)
{
	pthread_mutex_destroy(&c->lock);
}

static bool is_same_text(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

/* Pages show the user's name; API responses depend only on the fields compared here. */
static bool is_same(const struct request *a, const struct request *b)
{
	return strncmp(a->path, "/api/", 5) == 0 && strcmp(a->path, b->path) == 0 && is_same_text(a->query, b->query) &&
	       strcmp(a->headers.method, b->headers.method) == 0 && is_same_text(a->accept, b->accept) &&
	       a->accepts_gzip == b->accepts_gzip && a->accepts_html == b->accepts_html && a->identity.role == b->identity.role;
}

bool coalesce_join(struct coalesce *c, struct waiting_query *w)
{
	struct waiting_query *leader;

	pthread_mutex_lock(&c->lock);
	for (leader = c->leaders; leader && !is_same(leader->request, w->request); leader = leader->next)
		;
	if (leader) {
		w->next = leader->followers;
		leader->followers = w;
	} else {
		w->next = c->leaders;
		c->leaders = w;
	}
	pthread_mutex_unlock(&c->lock);
	return leader;
}

void coalesce_begin(struct coalesce *c, struct waiting_query *w)
{
	struct waiting_query **at = &c->leaders;

	pthread_mutex_lock(&c->lock);
	while (*at && *at != w)
		at = &(*at)->next;
	if (*at)
		*at = w->next;
	pthread_mutex_unlock(&c->lock);
}
