/* query_message.h: a request and a response as bytes, between the daemon and the process that answers a query.
 *
 * Both ends are the same program, so numbers have native byte order; a text is a byte 1 and a C string, or a byte 0
 * for NULL. The first byte of a message:
 *
 *	QUERY_ASK	daemon to process	limits, request, and the socket that PHP sends to
 *	QUERY_DAMAGE	process to daemon	a day that was found damaged, and a sentence, as in store.h
 *	QUERY_ANSWER	process to daemon	the response without its body, whose bytes are in the file of answer_file.h
 *	QUERY_ENDED	starter to daemon	how the process ended, as in waitpid(2); the last message
 */
#ifndef SERVE_QUERY_MESSAGE_H
#define SERVE_QUERY_MESSAGE_H

#include "http.h"

enum { QUERY_ASK = 1, QUERY_DAMAGE, QUERY_ANSWER, QUERY_ENDED };

#define QUERY_MESSAGE_MAX	((size_t)100 << 10)	/* headers and URL are at most 32 KB, bodies 48 KB */

struct query_limits {
	uint64_t memory;		/* bytes of address space, beyond those of an idle process */
	uint64_t answer;		/* limit of the compressed answer, in bytes */
	uint32_t milliseconds;
	uint32_t max_nodes, refuse_above;	/* same as in store_query */
};

/* The _put functions replace the content of `b`. Texts that were read point into the message, which ends with a NUL,
 * except those of a response, which are copied to its `bytes`. False for a malformed message. */
void query_put_request(struct buf *b, const struct query_limits *l, const struct request *q, const char *php_socket);
bool query_get_request(const char *bytes, size_t n, struct query_limits *l, struct request *q, const char **ret_php_socket);

void query_put_damage(struct buf *b, int64_t day_ns, const char *why);
bool query_get_damage(const char *bytes, size_t n, int64_t *ret_day_ns, const char **ret_why);

void query_put_answer(struct buf *b, const struct response *r, uint64_t size);
bool query_get_answer(const char *bytes, size_t n, struct response *r, uint64_t *ret_size);

void query_put_ended(struct buf *b, int status);
bool query_get_ended(const char *bytes, size_t n, int *ret_status);

#endif
