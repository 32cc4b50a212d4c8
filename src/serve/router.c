/* router.c: the table of paths. */

#include "router.h"

#include "api.h"
#include "connect.h"
#include "web_assets.h"
#include "health.h"
#include "login.h"
#include "metrics.h"
#include "named_filters.h"
#include "old_links.h"
#include "page.h"
#include "pyroscope.h"
#include "pushes.h"
#include "runs.h"

#include <errno.h>
#include <string.h>

typedef void handler(struct server_context *s, const struct request *q, struct response *r);

struct route {
	const char *path;		/* ending in "/": everything below it */
	handler *answer;
	bool is_page, is_public, takes_post, takes_delete, is_counters, is_query, is_probe, removes;
	size_t body_max;		/* limit of a POST */
	bool reads, only_post, is_push;		/* a POST that changes nothing; a path with POST only */
};

static const struct route routes[] = {
	{ "/", old_links_root, .is_page = true, .is_query = true },
	{ "/login", login_answer, .is_page = true, .is_public = true, .takes_post = true, .body_max = LOGIN_BODY_MAX,
	  .is_counters = true },
	{ "/logout", logout_answer, .is_page = true, .is_public = true, .takes_post = true, .body_max = LOGIN_BODY_MAX,
	  .is_counters = true },
	{ "/flamegraph.svg", api_flamegraph, .is_page = true, .is_query = true },
	{ "/callgraph.svg", api_callgraph, .is_page = true, .is_query = true },
	{ "/index.php", old_index, .is_page = true, .is_query = true },
	{ "/callgraph.php", old_callgraph, .is_page = true, .is_query = true },
	{ "/typeahead.php", old_typeahead, .is_page = true, .is_query = true },
	{ "/xhprof_html/", old_links_folder, .is_page = true, .is_query = true },
	{ "/uprofiler_html/", old_links_folder, .is_page = true, .is_query = true },
	{ "/runs", runs_page, .is_page = true, .takes_post = true, .body_max = HTTP_BODY_MAX, .is_query = true },
	{ "/runs/choose", runs_choose, .is_page = true },
	{ "/runs/delete", runs_remove, .is_page = true, .takes_post = true, .body_max = HTTP_BODY_SMALL, .removes = true },
	{ "/runs/", run_page, .is_page = true, .is_query = true },
	{ "/filters", named_filters_page, .is_page = true, .takes_post = true, .body_max = HTTP_BODY_SMALL },
	{ "/assets/", assets_answer, .is_public = true, .is_counters = true },
	{ "/favicon.ico", assets_icon, .is_public = true },
	{ "/api/v1/status", api_status, .is_counters = true },
	{ "/api/v1/labels", api_labels, .is_query = true },
	{ "/api/v1/timeline", api_timeline, .is_query = true },
	{ "/api/v1/profile", api_profile, .is_query = true },
	{ "/api/v1/functions", api_functions, .is_query = true },
	{ "/api/v1/table", api_table, .is_query = true },
	{ "/api/v1/function", api_function, .is_query = true },
	{ "/api/v1/source", api_source, .is_query = true },
	{ "/api/v1/callgraph", api_callgraph, .is_query = true },
	{ "/api/v1/runs", api_runs, .takes_post = true, .body_max = HTTP_BODY_MAX, .is_query = true },
	{ "/api/v1/runs/", api_run, .takes_delete = true, .is_query = true, .removes = true },
	{ "/api/v1/filters", named_filters_api, .takes_post = true, .takes_delete = true },
	{ "/querier.v1.QuerierService/", pyroscope_call, .takes_post = true, .only_post = true, .reads = true,
	  .body_max = CONNECT_BODY_MAX, .is_query = true },
	{ "/settings.v1.SettingsService/Get", pyroscope_get_settings, .takes_post = true, .only_post = true, .reads = true,
	  .body_max = CONNECT_BODY_MAX },
	{ "/settings.v1.SettingsService/Set", pyroscope_set_settings, .takes_post = true, .only_post = true,
	  .body_max = CONNECT_BODY_MAX },
	{ "/settings.v1.SettingsService/", pyroscope_missing, .takes_post = true, .reads = true, .body_max = CONNECT_BODY_MAX },
	{ "/settings.v1.RecordingRulesService/", pyroscope_missing, .takes_post = true, .reads = true,
	  .body_max = CONNECT_BODY_MAX },
	{ "/vcs.v1.VCSService/", pyroscope_missing, .takes_post = true, .reads = true, .body_max = CONNECT_BODY_MAX },
	{ "/adhocprofiles.v1.AdHocProfileService/", pyroscope_missing, .takes_post = true, .reads = true,
	  .body_max = CONNECT_BODY_MAX },
	{ "/pyroscope/render", pyroscope_render, .is_query = true },
	{ "/pyroscope/render-diff", pyroscope_render_diff, .is_query = true },
	{ "/pyroscope/label-values", pyroscope_values_of_label, .is_query = true },
	{ "/ingest", push_ingest, .takes_post = true, .only_post = true, .body_max = HTTP_BODY_MAX, .is_push = true },
	{ "/pyroscope/ingest", push_ingest, .takes_post = true, .only_post = true, .body_max = HTTP_BODY_MAX, .is_push = true },
	{ "/push.v1.PusherService/Push", push_pusher, .takes_post = true, .only_post = true, .body_max = HTTP_BODY_MAX,
	  .is_push = true },
	{ PUSH_OTLP_PATH, push_otlp, .takes_post = true, .only_post = true, .body_max = HTTP_BODY_MAX, .is_push = true },
	{ "/healthz", health_liveness, .is_counters = true, .is_probe = true },
	{ "/readyz", health_readiness, .is_counters = true, .is_probe = true },
	{ "/metrics", metrics_answer, .is_counters = true, .is_probe = true },
};

static const struct route *find_exactly(const char *path)
{
	for (size_t i = 0; i < ARRAY_SIZE(routes); i++) {
		const char *at = routes[i].path;
		size_t n = strlen(at);

		if (strcmp(path, at) == 0 || (n > 1 && at[n - 1] == '/' && strncmp(path, at, n) == 0))
			return &routes[i];
	}
	return NULL;
}

static const struct route *find_route(const char *path)
{
	const struct route *route = find_exactly(path);

	return route || !connect_path(path) ? route : find_exactly(connect_path(path));
}

static bool is_safe(const struct request *q)
{
	return strcmp(q->headers.method, "GET") == 0 || strcmp(q->headers.method, "HEAD") == 0;
}

static bool is_post(const struct request *q)
{
	return strcmp(q->headers.method, "POST") == 0;
}

/* Authenticates the request. Returns 0, or the status to refuse it with. */
static int check(struct server_context *s, struct request *q, const struct route *route, unsigned *ret_wait, struct buf *why)
{
	q->headers.is_page = route && route->is_page;
	q->headers.is_public = route && route->is_public;
	q->headers.is_push = route && route->is_push;
	q->headers.reads = route && route->reads && is_post(q);
	q->headers.roles.takes_basic = route && route->is_push;
	q->headers.roles.is_probe = route && route->is_probe;
	q->headers.roles.only_probes = q->only_probes;
	q->identity = roles_identify(&s->auth.roles, &q->headers.roles);
	q->form_token = q->identity.role == ROLE_WRITE && *s->form_token ? s->form_token : NULL;
	*ret_wait = q->headers.roles.authorization ? login_retry_after(s, q) : 0;
	if (*ret_wait) {
		buf_printf(why, "too many wrong tokens from this address; try again in %u seconds", *ret_wait);
		return 429;
	}
	return auth_check(q->auth ? q->auth : &s->auth, &q->headers, &q->identity, why);
}

/* A refused client must not learn anything else, so before that only the kind of path is checked. */
static bool refuse(struct server_context *s, struct request *q, const struct route *route, struct response *r)
{
	_cleanup_(buf_done) struct buf why = { 0 };
	unsigned wait;
	int status;

	buf_init(&why);
	status = check(s, q, route, &wait, &why);
	if (status == 429)
		login_refuse_throttled(s, wait, r);
	if (status == 401 && q->identity.wrong_token)
		login_record_failure(s, q);
	if (status == 401 && q->accepts_html && route && route->is_page)
		login_form(q, r, 401, why.data);
	else if (status)
		response_error(r, q, status, "%s", why.data);
	return status != 0;
}

/* `strobe collect` serves only some of the routes. */
static bool lacks(const struct server_context *s, const struct route *route)
{
	return s->options.only_counters && !route->is_counters && !route->is_push;
}

size_t router_body_max(struct server_context *s, struct request *q)
{
	_cleanup_(buf_done) struct buf why = { 0 };
	const struct route *route = find_route(q->path);
	unsigned wait;

	buf_init(&why);
	if (!route || !route->takes_post || !is_post(q) || lacks(s, route) || check(s, q, route, &wait, &why))
		return 0;
	return route->body_max;
}

static bool takes_method(const struct route *route, const struct request *q)
{
	return (is_safe(q) && !route->only_post) || (route->takes_post && is_post(q)) ||
	       (route->takes_delete && strcmp(q->headers.method, "DELETE") == 0);
}

static const char *methods_of(const struct route *route)
{
	if (route->only_post)
		return "POST";
	if (route->takes_post)
		return route->takes_delete ? "GET, HEAD, POST, DELETE" : "GET, HEAD, POST";
	return route->takes_delete ? "GET, HEAD, DELETE" : "GET, HEAD";
}

static void count_push(struct server_context *s, const struct route *route, enum source_push_error why)
{
	if (route->is_push && s->options.pushes)
		s->options.pushes->counters.rejected_pushes[why]++;
}

static void refuse_large_body(const struct request *q, const struct route *route, struct response *r)
{
	struct err err = { 0 };

	/* Only profiles may be that large. */
	err_set(&err, -EFBIG, "a request body may have %zu bytes here%s", route->body_max, route->body_max < HTTP_BODY_MAX ? "" :
		"; compress it with gzip or zstd, or use 'strobe import' on the daemon's machine");
	if (route->is_page)
		page_put_error(q, r, 413, err.text);
	else
		response_error(r, q, 413, "%s", err.text);
}

/* Some addresses and programs serve only some of the routes. Returns false if the answer was filled in. */
static bool is_served(const struct server_context *s, const struct request *q, const struct route *route, struct response *r)
{
	if (q->only_probes && !route->is_probe)
		response_error(r, q, 404, "this address serves only /healthz, /readyz and /metrics; the rest is at the address of "
					  "--listen");
	else if (lacks(s, route))
		response_error(r, q, 404, "this is `strobe collect`, which has counters only: /metrics, "
					  "/api/v1/status, /healthz and /readyz; `strobe serve` has the page");
	else
		return true;
	return false;
}

/* Returns false if the answer was filled in. */
static bool accepts_body(struct server_context *s, const struct request *q, const struct route *route, struct response *r)
{
	if (!q->has_body || (!route && connect_path(q->path)))
		return true;
	if (!route || !route->takes_post || !is_post(q) || !route->body_max)
		response_error(r, q, 413, "nothing here accepts a request body%s", route && route->takes_post ? "; parameters belong in the URL" : "");
	else if (q->body_too_large) {
		count_push(s, route, SOURCE_PUSH_LARGE);
		refuse_large_body(q, route, r);
	} else if (!q->body) {
		count_push(s, route, SOURCE_PUSH_BUSY);
		response_error(r, q, 503, "too much data is being received; try again later");
	} else {
		return true;
	}
	return false;
}

bool router_admits(struct server_context *s, struct request *q, struct response *r)
{
	const struct route *route = find_route(q->path);

	if (refuse(s, q, route, r) || (route && !is_served(s, q, route, r)) || !accepts_body(s, q, route, r))
		return false;
	if (!route) {
		response_error(r, q, 404, "not found; the page is at / and the API at /api/v1/status");
		return false;
	}
	if (!takes_method(route, q)) {
		r->allow = methods_of(route);
		response_error(r, q, 405, "this address answers %s", r->allow);
		return false;
	}
	if (pyroscope_call_index(q->path) < PYROSCOPE_CALLS)
		s->http.calls[pyroscope_call_index(q->path)]++;
	return true;
}

bool router_is_query(const struct request *q)
{
	const struct route *route = find_route(q->path);

	return route && route->is_query && (is_safe(q) || (route->reads && is_post(q)));
}

bool router_is_push(const struct request *q)
{
	const struct route *route = find_route(q->path);

	return route && route->is_push && is_post(q);
}

bool router_removes(const struct request *q)
{
	const struct route *route = find_route(q->path);

	return route && route->removes && !is_safe(q);
}

bool router_draws(const struct request *q)
{
	const struct route *route = find_route(q->path);

	return route && route->answer == api_callgraph;
}

void router_handle(struct server_context *s, const struct request *q, struct response *r)
{
	const struct route *route = find_route(q->path);

	if (route->is_counters)
		pthread_rwlock_rdlock(&s->lock);
	route->answer(s, q, r);
	if (route->is_counters)
		pthread_rwlock_unlock(&s->lock);
}

void router_answer(struct server_context *s, struct request *q, struct response *r)
{
	if (router_admits(s, q, r))
		router_handle(s, q, r);
}
