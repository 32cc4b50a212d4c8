/* queries.h: queries of the store, with a cap on the memory of all queries and their answers.
 *
 * Each query runs in its own process (query_starter.h). The first attempt gets a sixteenth of the cap, which is enough
 * for nearly all queries. A query that needs more is retried with half of the cap, one such query at a time, and its
 * result is pruned to fit. The compressed response counts until it is sent. A query is refused if no memory is left,
 * which does not affect other queries.
 */
#ifndef SERVE_QUERIES_H
#define SERVE_QUERIES_H

#include "http.h"

#define QUERY_THREADS		4u
#define QUERIES_WAITING		64u
#define LARGE_QUERIES_WAITING	4u
#define QUERY_SECONDS		60u			/* limit of one attempt */
#define QUERY_MEMORY		((uint64_t)1 << 30)	/* default of the cap … */
#define QUERY_MEMORY_MIN	((uint64_t)64 << 20)	/* … and its minimum */

struct answer_body;

/* The body of a response that is being sent; several connections may send the same one. */
struct answer {
	struct answer_body *body;
	int file;			/* see answer_file.h; contains the body */
	uint64_t size;			/* decompressed */
	uint64_t at;			/* start of the next block */
};

struct answer *answer_free(struct answer *a);		/* NULL is fine; returns NULL */

/* Shares the body with another connection; NULL if there is no memory left to send it. */
struct answer *answer_share(const struct answer *a);

/* Fills `r`, and *ret with the body unless that is in `r` (then it is NULL). False if `q` has to be retried as a large
 * one; only one of these may run at a time. */
bool queries_answer(struct server_context *s, const struct request *q, bool large, struct response *r, struct answer **ret);

/* Refuses the query immediately. */
void queries_refuse(struct server_context *s, const struct request *q, struct response *r);

#endif
