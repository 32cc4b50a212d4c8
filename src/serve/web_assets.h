/* web_assets.h: the built files of web/dist, compressed, inside the program.
 *
 * They are served below /assets/HASH/, where HASH is that of all of them, so a URL always means the same bytes and
 * may be cached forever. web/embed.py generates the table at build time. */
#ifndef SERVE_WEB_ASSETS_H
#define SERVE_WEB_ASSETS_H

#include "http.h"

struct asset {
	const char *name, *type;
	const unsigned char *gzip;
	size_t gzip_size, size;
};

extern const char assets_hash[];		/* 16 hexadecimal digits */
extern const struct asset assets[];		/* ends with a NULL name */

void assets_answer(struct server_context *s, const struct request *q, struct response *r);
void assets_icon(struct server_context *s, const struct request *q, struct response *r);		/* /favicon.ico */

#endif
