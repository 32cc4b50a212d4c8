/* named_filters.h: named states of the page, shared by all users who may read.
 *
 * They are stored in one small file in the store's directory. Names are data and never used as paths. */
#ifndef SERVE_NAMED_FILTERS_H
#define SERVE_NAMED_FILTERS_H

#include "http.h"

#define NAMED_FILTERS_MAX	100u
#define NAMED_FILTERS_NAME	80u		/* characters */
#define NAMED_FILTERS_QUERY	2048u		/* bytes */

void named_filters_page(struct server_context *s, const struct request *q, struct response *r);	/* /filters */
void named_filters_api(struct server_context *s, const struct request *q, struct response *r);	/* /api/v1/filters */

#endif
