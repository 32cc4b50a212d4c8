/* pushes.h: shared by the three protocols for pushing profiles of other profilers; docs/ingest.md is the manual.
 *
 *	push_begin -> a reader of src/exchange fills p.pushed from p.body -> push_submit -> push_done
 *
 * Rejected requests are counted by reason and get a status that clients do not retry; only a full collector is 503. */
#ifndef SERVE_PUSHES_H
#define SERVE_PUSHES_H

#include "http.h"
#include "input.h"
#include "pushed.h"

struct push {
	struct server_context *context;
	const struct request *request;
	struct response *response;
	enum source_push_protocol protocol;
	struct pushed pushed;
	struct str body;			/* decompressed */
	struct input input;			/* owns the body */
	uint64_t charged;			/* bytes taken from the server's memory cap */
	int large_status;			/* status of responses to data above a limit, by default 413 */
};

/* Checks tenant and encoding, and decompresses the body, to at most `body_max` bytes. False if the response was
 * filled in. Call push_done in any case. */
bool push_begin(struct push *p, struct server_context *s, const struct request *q, enum source_push_protocol protocol, size_t body_max,
		struct response *r);

/* Passes p.pushed to the collector. False if the response was filled in. */
bool push_submit(struct push *p);

/* Counts the refusal and responds. push_refuse_read does so for the result of a reader. */
void push_refuse(struct push *p, enum source_push_error why, int status, const char *format, ...) _printf_(4, 5);
void push_refuse_read(struct push *p, int code, int status, const struct err *err);

void push_done(struct push *p);

void push_ingest(struct server_context *s, const struct request *q, struct response *r); /* POST /ingest, /pyroscope/ingest */
void push_pusher(struct server_context *s, const struct request *q, struct response *r); /* POST /push.v1.PusherService/Push */
void push_otlp(struct server_context *s, const struct request *q, struct response *r);	/* POST /v1development/profiles */

/* An error in the form of google.rpc.Status, in the encoding of the request. */
#define PUSH_OTLP_PATH "/v1development/profiles"
void push_otlp_put_error(struct response *r, const struct request *q, int status, const char *sentence);

#endif
