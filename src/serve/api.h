/* api.h: the JSON API, version 1. docs/api.md is its manual. */
#ifndef SERVE_API_H
#define SERVE_API_H

#include "http.h"
#include "view.h"

void api_status(struct site *s, const struct request *q, struct response *r);
void api_labels(struct site *s, const struct request *q, struct response *r);
void api_timeline(struct site *s, const struct request *q, struct response *r);
void api_profile(struct site *s, const struct request *q, struct response *r);
void api_functions(struct site *s, const struct request *q, struct response *r);
void api_table(struct site *s, const struct request *q, struct response *r);
void api_function(struct site *s, const struct request *q, struct response *r);
void api_source(struct site *s, const struct request *q, struct response *r);
void api_callgraph(struct site *s, const struct request *q, struct response *r);

/* Gets Graphviz ready for that, which api_callgraph does itself unless this was called. */
int api_callgraph_start(struct site *s, struct err *err);

void api_flamegraph(struct site *s, const struct request *q, struct response *r);	/* /flamegraph.svg */

#endif
