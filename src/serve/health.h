/* health.h: /healthz and /readyz, for supervisors and load balancers. */
#ifndef SERVE_HEALTH_H
#define SERVE_HEALTH_H

#include "http.h"

/* Returns NULL if samples can be ingested and queried, else the reason, in `text`. */
const char *health_reason(const struct server_context *s, char *text, size_t size);

void health_liveness(struct server_context *s, const struct request *q, struct response *r);
void health_readiness(struct server_context *s, const struct request *q, struct response *r);

#endif
