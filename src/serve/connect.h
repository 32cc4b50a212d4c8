/* connect.h: unary calls of the Connect protocol over HTTP/1.1, https://connectrpc.com/docs/protocol.
 *
 *	POST [/prefix]/package.v1.Service/Method
 *	Content-Type: application/proto or application/json, and the answer has the same
 *	Content-Encoding: gzip, or none
 *
 * A body is one message. An error has a status that is not 200, and is a JSON object with a code and a sentence
 * for any type of request. Any prefix is accepted, because a reverse proxy or the URL of a data source may add
 * one.
 */
#ifndef SERVE_CONNECT_H
#define SERVE_CONNECT_H

#include "http.h"
#include "protobuf_message.h"

#define CONNECT_BODY_MAX	((size_t)48 << 10)	/* limit of a call that queries, as it is received … */
#define CONNECT_MESSAGE_MAX	((size_t)1 << 20)	/* … and decompressed */
#define CONNECT_SECONDS		25u			/* time limit of such a call: clients give up at 30 */

/* Returns the path without its prefix, "/querier.v1.QuerierService/SelectSeries" or "/pyroscope/render"; NULL for any
 * other path. */
const char *connect_path(const char *path);

/* Returns the name of the Connect code for a status: "invalid_argument". */
const char *connect_code(int status);

/* Decompresses the body (`max` bytes at most) and converts it to the bytes of the message, which are validated. On
 * failure fills in `r` and returns false. */
bool connect_read(const struct request *q, const struct message *m, size_t max, struct buf *ret, struct response *r);

/* Responds with a message in the encoding of the request. `bytes` is in the encoding of Protocol Buffers. */
void connect_answer(const struct request *q, const struct message *m, const struct buf *bytes, struct response *r);

/* Compresses the body if the client accepts that and the body is large enough. */
void connect_compress(const struct request *q, struct response *r);

/* Responds with {"code": "invalid_argument", "message": sentence}. */
void connect_put_error(struct response *r, int status, const char *sentence);

#endif
