/* api_thread.h: per-thread state of the files in api/. */
#ifndef STROBE_API_THREAD_H
#define STROBE_API_THREAD_H

#include "random.h"
#include "scopes.h"
#include "secret.h"
#include "sender.h"
#include "stack.h"
#include "tracer.h"
#include "trie.h"

struct api_thread {
	/* scopes.c */
	struct work request;
	struct scope base, *scope;	/* those of the request and of the running fiber */
	struct scope *scopes;		/* all other scopes */
	HashTable fibers;		/* fiber contexts to their state in scopes.c */
	bool has_fibers;
	uint64_t fiber, last_fiber;	/* the number of the running fiber, and the highest number used so far */
	zend_execute_data *resumer;	/* the call that has started or resumed it, if it has begun a scope or was switched to from one */

	/* unit_class.c */
	struct unit_object *units;	/* open units, the most recent first */

	/* trace_class.c, sampler_class.c: lists of running objects */
	struct trace_object *traces;
	struct sampler_object *samplers;
	struct stack stack;		/* for taking samples; its frames are allocated once */
	struct trie spare;		/* a mapped trie for reuse, or none */

	/* request_trace.c */
	char url[STROBE_WIRE_LABEL_VALUE + 1];	/* URL of the request, for SAPIs that forget it before the end; or "" */

	/* trigger.c */
	struct secret secret;		/* secret of this directory, which replaces the pool's; empty: none */
	bool has_secret;		/* the directory has one, perhaps empty */

	/* send_runs.c */
	struct sender sender;		/* its losses count runs */
	struct strobe_timer drain;	/* runs while data is queued there */
	pid_t pid;			/* owner of the connection and the random numbers */
	struct random random;
};

/* Returns the state of this thread, creating it on first use; NULL without memory. After a fork, the child gets its
 * own connection and random numbers here. */
struct api_thread *api_thread(void);

/* Returns the existing state, or NULL. */
struct api_thread *api_thread_if_any(void);

/* Begins the request as a unit of work, which may have started before the state was created. */
void api_thread_begin_request(struct api_thread *a);

/* Frees what a PHP thread holds; NULL is fine. */
void api_thread_free(struct api_thread *a);

#endif
