/* runs_choose.c: redirects from runs ticked in the list to the page that shows them: two are compared, several
 * aggregated. runs_remove.c deletes runs. */

#include "runs.h"

#include "views.h"

#include <string.h>

static int take_run(struct views *v, const char *text, struct err *err)
{
	if (v->run_count == VIEWS_RUNS)
		return err_set(err, -EINVAL, "at most %u runs can be shown together; tick fewer", VIEWS_RUNS);
	if (!views_parse_run(text, &v->runs[v->run_count]))
		return err_set(err, -EINVAL, "run=%.80s: a run is given as its source and its id, as in shop/20261121-1",
			       text);
	v->run_count++;
	return 0;
}

static int take_runs(struct views *v, const struct params *p, struct err *err)
{
	int e = 0;

	for (size_t i = 0; i < p->count && e >= 0; i++)
		if (!strcmp(p->items[i].key, "run"))
			e = take_run(v, p->items[i].value, err);
	return e;
}

/* The lower run in the list, which by default is the older one, becomes the base. */
static int compare(struct views *v, struct err *err)
{
	if (v->run_count != 2)
		return err_set(err, -EINVAL, "two runs can be compared, and %zu %s ticked", v->run_count,
			       v->run_count == 1 ? "is" : "are");
	v->base = v->runs[1];
	v->has_base = true;
	v->run_count = 1;
	return 0;
}

static int aggregate(struct views *v, const struct params *p, struct buf *weights, struct err *err)
{
	const char *text = params_get(p, "weights");
	int e;

	if (!v->run_count)
		return err_set(err, -EINVAL, "no run is ticked; tick those to aggregate");
	if (!text || !*text || v->run_count == 1)
		return 0;
	e = views_weights(text, v->run_count, weights, err);
	v->weights = weights->data;
	return e;
}

void runs_choose(struct server_context *s, const struct request *q, struct response *r)
{
	_cleanup_(buf_done) struct buf weights = { 0 }, address = { 0 };
	struct views v = { 0 };
	struct params params;
	struct err err = { 0 };
	const char *what;
	int e = params_parse(&params, q->query, &err);

	buf_init(&weights);
	buf_init(&address);
	what = e < 0 ? NULL : params_get(&params, "do");
	if (e >= 0)
		e = take_runs(&v, &params, &err);
	if (e >= 0)
		e = what && !strcmp(what, "compare") ? compare(&v, &err) : aggregate(&v, &params, &weights, &err);
	if (e < 0) {
		runs_page_error(q, r, 400, err.text);
	} else {
		views_put(&v, &address);
		runs_lead_to(r, 302, &address);
	}
	params_done(&params);
}
