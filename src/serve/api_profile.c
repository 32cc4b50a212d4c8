/* api_profile.c: the merged profile of a view, in the requested format. */

#include "api.h"

#include "profile_query.h"
#include "chart.h"
#include "chart_data.h"
#include "clock.h"
#include "downloads.h"
#include "flame_data.h"
#include "flame_part.h"
#include "folded_write.h"
#include "format.h"
#include "mem.h"
#include "pattern.h"
#include "profile_json.h"
#include "render.h"
#include "runs.h"
#include "text.h"

#include <string.h>

enum shape { SHAPE_JSON, SHAPE_FOLDED, SHAPE_STROBE, SHAPE_SVG, SHAPE_FLAME, SHAPE_CHART, SHAPE_UNKNOWN };

static const struct {
	const char *name, *type, *suffix;
} shapes[] = {
	[SHAPE_JSON] = { "json", "application/json", NULL },
	[SHAPE_FOLDED] = { "folded", "text/plain; charset=utf-8", "folded" },
	[SHAPE_STROBE] = { "strobe", "application/vnd.strobe.profile", "strobe" },
	[SHAPE_SVG] = { "svg", "image/svg+xml", NULL },
	[SHAPE_FLAME] = { "flame", "application/vnd.strobe.flame", NULL },
	[SHAPE_CHART] = { "chart", "application/vnd.strobe.chart", NULL },
};

/* Chooses by the parameter, else by the first known type of Accept, else JSON. */
static enum shape choose_shape(const struct view *v, const char *accept)
{
	const char *best = NULL;
	enum shape shape = SHAPE_JSON;

	for (unsigned i = 0; i < SHAPE_UNKNOWN; i++) {
		const char *at;

		if (v->format) {
			if (strcmp(v->format, shapes[i].name) == 0)
				return (enum shape)i;
			continue;
		}
		at = accept ? memmem(accept, strlen(accept), shapes[i].type, strcspn(shapes[i].type, ";")) : NULL;
		if (at && (!best || at < best)) {
			best = at;
			shape = (enum shape)i;
		}
	}
	return v->format ? SHAPE_UNKNOWN : shape;
}

/* --- JSON --- */

static void put_json(const struct profile_query *a, const struct server_context *s, struct buf *out)
{
	struct json j;

	json_init(&j, out);
	profile_query_json_head(a, s, &j);
	profile_json_about(&j, a->profile);
	profile_json_tree(&j, a->profile);
	json_end(&j);
	buf_putc(out, '\n');
}

/* --- The canvas --- */

struct about {
	const struct profile_query *query;
	const struct server_context *context;
	const struct chart_window *window;	/* in a flame chart */
	const struct chart_search *search;	/* in a flame chart; NULL: none */
};

static void put_flame_about(struct json *j, void *data)
{
	const struct about *about = data;
	const struct profile_query *a = about->query;

	json_key(j, "about");
	profile_query_json_head(a, about->context, j);
	profile_query_json_columns(a, j);
	profile_json_facts(j, a->profile);
	json_key(j, "reverse");
	json_bool(j, a->view.reverse);
	if (a->charted_calls) {
		json_key(j, "charted_calls");
		json_u64(j, a->charted_calls);
	}
	json_end(j);
}

static void put_flame(const struct profile_query *a, const struct server_context *s, struct buf *out)
{
	struct about about = { .query = a, .context = s };
	_cleanup_(profile_freep) struct profile *turned = a->view.reverse ? profile_reverse(a->profile) : NULL;
	const struct flame_part part = { .pixels = a->view.pixels, .all = FLAME_PART_ALL, .width_of = a->view.width_of, .zoom = a->view.zoom };

	if (a->view.has_pixels)
		flame_part_put(turned ? turned : a->profile, a->column, a->before, &part, out, put_flame_about, &about);
	else
		flame_data_put(turned ? turned : a->profile, a->column, a->before, a->view.width_of, FLAME_DATA_BOXES, out, put_flame_about, &about);
}

/* --- The flame chart --- */

static void put_chart_about(struct json *j, void *data)
{
	const struct about *about = data;
	const struct profile_query *a = about->query;

	put_flame_about(j, data);
	json_key(j, "chart");
	json_open_object(j);
	json_key(j, "calls");
	json_u64(j, a->profile->chart->count);
	json_key(j, "left_out");
	json_u64(j, a->charted_calls - a->profile->chart->count);
	json_key(j, "start");
	json_double(j, (double)a->profile->chart->start_ns / 1e9);
	json_key(j, "length_ns");
	json_i64(j, chart_end(a->profile->chart));
	json_key(j, "from_ns");
	json_i64(j, about->window->from_ns);
	json_key(j, "to_ns");
	json_i64(j, about->window->to_ns);
	if (about->search) {
		json_key(j, "search");
		chart_data_json_search(j, a->profile, about->search);
	}
	json_end(j);
}

/* By frame; each name is matched once. */
static int match_chart(const struct profile_query *a, bool **ret, struct err *err)
{
	struct pattern *pattern = NULL;
	struct err why = { 0 };

	if (pattern_new_search(a->view.chart_search, true, &pattern, &why) < 0)
		return err_set(err, -EINVAL, "chart_search=%.100s: %s", a->view.chart_search, why.text);
	*ret = report_no_frames(a->profile);
	for (uint32_t f = 0; f < a->profile->frame_count; f++)
		(*ret)[f] = pattern_matches(pattern, profile_name(a->profile, f).p);
	pattern_free(pattern);
	return 0;
}

static int put_chart(const struct profile_query *a, const struct server_context *s, struct buf *out, struct err *err)
{
	const struct view *v = &a->view;
	_cleanup_(freep) bool *frames = NULL;
	struct chart_search search = { .wants_call = v->has_chart_match, .nth = v->chart_match };
	struct chart_window w = { v->chart_from_ns, v->chart_to_ns, v->pixels, FLAME_DATA_BOXES, NULL };
	struct about about = { .query = a, .context = s, .window = &w };

	if (v->run_count != 1 || v->has_base || v->by != REPORT_BY_FUNCTION)
		return err_set(err, -EINVAL, "format=chart: only one run has a flame chart, by function");
	if (!a->profile->chart)
		return err_set(err, -ENOENT, "this run has no flame chart: it was not traced with strobe.trace_flame_chart=1, 'strobe run "
			       "--trace --flame-chart' or the option \"flame_chart\" of Strobe\\Trace::start()");
	if (v->chart_search) {
		int r = match_chart(a, &frames, err);

		if (r < 0)
			return r;
		search.frames = frames;
		about.search = w.search = &search;
	}
	chart_data_put(a->profile, &w, out, put_chart_about, &about);
	return 0;
}

/* --- The picture --- */

/* Puts the requested title, or else a description of the data. */
static void put_title(const struct profile_query *a, struct buf *out)
{
	const struct view *v = &a->view;
	const char *entry = view_label(v, "entry"), *host = view_label(v, "host");

	if (v->title) {
		buf_puts(out, v->title);
	} else if (v->run_count == 1 && a->run_count && !a->is_diff) {
		buf_puts(out, run_name(&a->runs[0]));
	} else if (v->run_count || a->is_diff) {
		profile_query_describe(a, out);
	} else {
		buf_puts(out, entry ? entry : "All entry points");
		if (host)
			buf_printf(out, " on %s", host);
	}
}

/* Appends the column, the selection and the start of a run. */
static void put_subtitle(const struct profile_query *a, const struct server_context *s, struct buf *out)
{
	char at[32];

	if (profile_query_is_empty(a)) {
		profile_query_explain_empty(a, s, out);
		return;
	}
	if (a->view.run_count || a->is_diff)
		buf_printf(out, "%s of ", a->columns[a->chosen].name);
	profile_query_describe(a, out);
	if (a->view.run_count == 1 && !a->is_diff) {
		clock_format(a->runs[0].start_ns, at, sizeof(at));
		buf_printf(out, " at %s", at);
	}
}

#define SVG_WIDTH_MIN	200u		/* px: narrower pictures have no room for their controls */

static int put_svg(const struct profile_query *a, const struct server_context *s, struct buf *out, struct err *err)
{
	_cleanup_(buf_done) struct buf title = { 0 }, subtitle = { 0 };
	struct flamegraph_options o;

	buf_init(&title);
	buf_init(&subtitle);
	put_title(a, &title);
	put_subtitle(a, s, &subtitle);

	flamegraph_defaults(&o);
	flamegraph_suit(&o, a->profile);
	o.title = title.data;
	o.subtitle = subtitle.data;
	o.column = a->column;
	o.before_column = a->before;
	o.compared = a->is_diff ? &a->diff : NULL;
	o.width_of = a->view.width_of;
	o.reverse = a->view.reverse;
	o.inverted = a->view.inverted;
	if (a->view.has_pixels)
		o.width = a->view.pixels < SVG_WIDTH_MIN ? SVG_WIDTH_MIN : a->view.pixels;
	return flamegraph_svg(a->profile, &o, out, err);
}

/* --- Answers --- */

/* Unless a scale was requested, counts before are the measured ones, as in `strobe diff --folded`. */
static int put_folded(const struct profile_query *a, struct buf *out, struct err *err)
{
	if (!a->is_diff)
		return format_folded.write(a->profile, a->column, out, err);
	return folded_write_difference(a->profile, a->view.has_scale ? a->before : a->diff.measured, a->column, a->diff.measured, out, err);
}

static void answer_shape(struct server_context *s, const struct request *q, struct response *r, const struct profile_query *a,
			 enum shape shape)
{
	struct err err = { 0 };
	int code = 0;

	switch (shape) {
	case SHAPE_JSON:
		response_streams(r);
		put_json(a, s, &r->body);
		break;
	case SHAPE_FLAME:
		put_flame(a, s, &r->body);
		break;
	case SHAPE_CHART:
		code = put_chart(a, s, &r->body, &err);
		break;
	case SHAPE_SVG:
		code = put_svg(a, s, &r->body, &err);
		break;
	case SHAPE_FOLDED:
		response_streams(r);
		code = put_folded(a, &r->body, &err);
		break;
	case SHAPE_STROBE:
		code = format_strobe.write(a->profile, UINT32_MAX, &r->body, &err);
		break;
	default:
		response_error(r, q, 400, "format=%.40s: give json, folded, strobe, svg, flame, chart, " DOWNLOADS,
			       a->view.format);
		return;
	}
	if (code < 0) {
		profile_query_refuse(r, q, code, &err);
		return;
	}
	r->type = shapes[shape].type;
	if (shapes[shape].suffix)
		r->disposition = shape == SHAPE_FOLDED ? "inline; filename=\"profile.folded\"" :
							 "attachment; filename=\"profile.strobe\"";
}

static void answer_download(const struct request *q, struct response *r, const struct profile_query *a, const struct download *d)
{
	struct err err = { 0 };
	int code = download_put(d, a->profile, a->view.column && !a->is_diff ? a->column : UINT32_MAX, "profile", r, &err);

	if (code < 0)
		profile_query_refuse(r, q, code, &err);
}

/* Formats with line numbers get executed lines; clients may rely on JSON having one node per function. */
static bool wants_lines(const struct view *v, enum shape shape, const struct download *d)
{
	if (d ? !download_has_lines(d) : shape != SHAPE_JSON && shape != SHAPE_STROBE)
		return false;
	return v->has_lines ? v->lines : d || shape == SHAPE_STROBE;
}

void api_profile(struct server_context *s, const struct request *q, struct response *r)
{
	_cleanup_(profile_query_done) struct profile_query a = { 0 };
	struct err err = { 0 };
	const struct download *d;
	enum shape shape;
	int code = profile_query_parse(&a, q, &err);

	if (code < 0) {
		profile_query_refuse(r, q, code, &err);
		return;
	}
	shape = choose_shape(&a.view, q->accept);
	d = download_by_name(a.view.format);
	a.lines = wants_lines(&a.view, shape, d);
	a.names_as_stored = d || shape == SHAPE_FOLDED || shape == SHAPE_STROBE;
	a.is_chart = !d && shape == SHAPE_CHART;
	if (d && !download_has_sides(d) && a.view.has_base)
		profile_query_take_after(&a);
	a.chart = d ? download_has_chart(d) : shape == SHAPE_CHART || shape == SHAPE_STROBE;
	if ((d || shape != SHAPE_UNKNOWN) && (code = profile_query_load(&a, s, &err)) < 0) {
		profile_query_refuse(r, q, code, &err);
		return;
	}
	profile_query_warn(&a, r);
	if (d)
		answer_download(q, r, &a, d);
	else
		answer_shape(s, q, r, &a, shape);
}

void api_flamegraph(struct server_context *s, const struct request *q, struct response *r)
{
	_cleanup_(profile_query_done) struct profile_query a = { 0 };
	struct err err = { 0 };
	int code = profile_query_parse(&a, q, &err);

	if (code < 0 || (code = profile_query_load(&a, s, &err)) < 0) {
		profile_query_refuse(r, q, code, &err);
	} else {
		profile_query_warn(&a, r);
		answer_shape(s, q, r, &a, SHAPE_SVG);
	}
}
