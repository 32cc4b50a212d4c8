/* api.h: the JSON API, version 1. docs/api.md is its manual. */
#ifndef SERVE_API_H
#define SERVE_API_H

#include "http.h"
#include "view.h"

void api_status(struct server_context *s, const struct request *q, struct response *r);
void api_labels(struct server_context *s, const struct request *q, struct response *r);
void api_timeline(struct server_context *s, const struct request *q, struct response *r);
void api_profile(struct server_context *s, const struct request *q, struct response *r);
void api_functions(struct server_context *s, const struct request *q, struct response *r);
void api_table(struct server_context *s, const struct request *q, struct response *r);
void api_function(struct server_context *s, const struct request *q, struct response *r);
void api_source(struct server_context *s, const struct request *q, struct response *r);
void api_callgraph(struct server_context *s, const struct request *q, struct response *r);

/* Starts Graphviz early; otherwise api_callgraph starts it. */
int api_callgraph_start(struct server_context *s, struct err *err);

void api_flamegraph(struct server_context *s, const struct request *q, struct response *r);	/* /flamegraph.svg */

#endif
