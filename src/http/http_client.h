/* http_client.h: requests to one HTTP/1.1 server over a connection that is kept.
 *
 * A client belongs to one thread; it blocks, within deadlines, and raises no signal. Nothing is taken from the
 * environment (no proxy, no netrc), redirects are not followed, and only http and https are spoken. libcurl does the
 * work. It is loaded when the first client is opened, since most commands need none; see
 * docs/decisions/libcurl-on-demand.md. */
#ifndef HTTP_CLIENT_H
#define HTTP_CLIENT_H

#include "buf.h"
#include "err.h"
#include <stdbool.h>
#include <stdint.h>

struct http_client;
struct url;

struct http_options {
	const char *host;		/* a name or an address; an IPv6 one without brackets */
	unsigned port;
	const char *prefix;		/* before every path: "/otlp" or "", as written in a URL */
	bool tls;
	const char *name;		/* names the server in errors; NULL: its URL */
	const char *ca_file;		/* PEM; NULL: the system's. Certificates are always checked */
	const char *user, *password;	/* NULL: none */
	const char *password_file;	/* instead of the password; files are read for each request, so they may change */
	const char *token_file;		/* sent as "Authorization: Bearer …" */
	int64_t connect_ns;		/* to look up the name, connect and agree on TLS; 5 s */
	int64_t total_ns;		/* from the call to the last byte of the answer; 30 s */
	bool (*canceled)(void *data);	/* called about once a second, in the calling thread; NULL: never */
	void *data;
};

/* The parameters of a URL that http_options_from_url knows: tls=yes, ca-file=, password-file=, token-file= */
bool http_is_parameter(const char *name);

/* Sets the defaults, then the values of the URL; the options point into `u`. The path of the URL becomes the prefix,
 * without a trailing '/'. -EINVAL with a sentence; the caller checks names of other parameters. */
int http_options_from_url(struct http_options *o, const struct url *u, struct err *err);

/* Loads libcurl early, for programs that are about to restrict themselves; otherwise http_client_new loads it.
 * -ENOSYS with a sentence that names the missing package. */
int http_client_load(struct err *err);

/* Copies the options and connects to nothing yet. */
int http_client_new(const struct http_options *o, struct http_client **ret, struct err *err);
struct http_client *http_client_free(struct http_client *c);	/* NULL is fine; returns NULL */

struct http_request {
	const char *method;		/* GET, HEAD, POST, PUT or DELETE */
	const char *path;		/* below the prefix, with its query: "/?query=…"; escaped by the caller */
	const char *const *headers;	/* "Name: value", NULL at the end; NULL: none. Values contain no line break */
	const void *body;		/* POST and PUT; the bytes live until the call returns */
	size_t size;
	int64_t total_ns;		/* 0: the client's default */
	size_t body_max;		/* limit of an answer that is not streamed; 0: 16 MB */

	/* Once the answer has begun, every `least_bytes` of it must arrive within `least_ns`, or end it. A server that has
	 * sent nothing yet may be working, and has until the deadline. 0: no such limit. */
	size_t least_bytes;
	int64_t least_ns;

	/* Called with pieces of the body as they arrive, if the status is 2xx; other bodies go to the answer. A
	 * negative return aborts the request with that errno. NULL: everything goes to the answer. */
	int (*take)(void *data, const char *bytes, size_t n);
	void *data;

	/* The server may have closed a kept connection. The request is then sent again over a new one, so in rare
	 * cases the server sees it twice. `once` avoids that by always opening a new connection. */
	bool once;
};

struct http_answer {
	struct buf head;		/* for http_header() of http_get.h */
	struct buf body;
	bool was_sent;			/* after an error: the server may have received the request, in part or whole */
	bool was_slow;			/* after -ETIMEDOUT: the answer had begun, but fell below the least rate */
};

void http_answer_init(struct http_answer *a);
void http_answer_done(struct http_answer *a);

/* Empties `a`, sends and waits. Returns the status (200 to 599), or a negative errno with a sentence that names the
 * server but never a password: -ETIMEDOUT (also below the least rate), -ECANCELED, -EFBIG above a cap, -ECONNRESET if the connection was lost,
 * -EHOSTUNREACH if it could not be made, -EPROTO if the answer is not HTTP, -EKEYREJECTED for a certificate. */
int http_request(struct http_client *c, const struct http_request *r, struct http_answer *a, struct err *err);

#endif
