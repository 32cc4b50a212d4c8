/* pyroscope.h: the API of Pyroscope as Grafana's data source and its app Profiles Drilldown call it.
 *
 *	POST /querier.v1.QuerierService/…	pyroscope_calls.h, over connect.h
 *	POST /settings.v1.SettingsService/…	what the app keeps
 *	GET  /pyroscope/render, /pyroscope/render-diff, /pyroscope/label-values
 *
 * Any prefix is accepted. */
#ifndef SERVE_PYROSCOPE_H
#define SERVE_PYROSCOPE_H

#include "http.h"

void pyroscope_call(struct server_context *s, const struct request *q, struct response *r);
void pyroscope_missing(struct server_context *s, const struct request *q, struct response *r); /* a call that is not needed */
void pyroscope_get_settings(struct server_context *s, const struct request *q, struct response *r);
void pyroscope_set_settings(struct server_context *s, const struct request *q, struct response *r);
void pyroscope_render(struct server_context *s, const struct request *q, struct response *r);
void pyroscope_render_diff(struct server_context *s, const struct request *q, struct response *r);
void pyroscope_values_of_label(struct server_context *s, const struct request *q, struct response *r);	/* label-values */

const char *pyroscope_call_name(size_t i);
size_t pyroscope_call_index(const char *path);		/* PYROSCOPE_CALLS if unknown */

#endif
