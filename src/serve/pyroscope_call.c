/* pyroscope_call.c: the table of calls, and their responses over Connect. */
#include "pyroscope.h"

#include "profile_query.h"
#include "connect.h"
#include "messages.h"
#include "pyroscope_calls.h"

#include <string.h>

static const struct call {
	const char *name;
	const struct message *request, *response;
	pyroscope_answer *answer;
} calls[PYROSCOPE_CALLS] = {
	{ "ProfileTypes", &message_profile_types_request, &message_profile_types_response, pyroscope_profile_types },
	{ "LabelNames", &message_label_names_request, &message_names_response, pyroscope_label_names },
	{ "LabelValues", &message_label_values_request, &message_names_response, pyroscope_label_values },
	{ "Series", &message_series_request, &message_series_response, pyroscope_series },
	{ "SelectSeries", &message_select_series_request, &message_select_series_response, pyroscope_select_series },
	{ "SelectMergeStacktraces", &message_stacktraces_request, &message_stacktraces_response, pyroscope_stacktraces },
	{ "SelectMergeSpanProfile", &message_span_profile_request, &message_stacktraces_response, pyroscope_span_profile },
	{ "SelectMergeProfile", &message_merge_profile_request, &message_google_profile, pyroscope_merge_profile },
	{ "SelectHeatmap", &message_heatmap_request, &message_heatmap_response, pyroscope_select_heatmap },
	{ "Diff", &message_diff_request, &message_diff_response, pyroscope_diff },
	{ "GetProfileStats", &message_empty, &message_stats_response, pyroscope_stats },
	{ "AnalyzeQuery", &message_analyze_request, &message_empty, pyroscope_analyze },
};

const char *pyroscope_call_name(size_t i)
{
	return calls[i].name;
}

size_t pyroscope_call_index(const char *path)
{
	const char *at = connect_path(path), *name = at ? strrchr(at, '/') + 1 : "";
	size_t i = 0;

	while (i < PYROSCOPE_CALLS && strcmp(calls[i].name, name))
		i++;
	return i;
}

void pyroscope_warn(const struct pyroscope_left_out *l, struct response *r)
{
	_cleanup_(buf_done) struct buf text = { 0 };

	r->pruned = l->pruned;
	buf_init(&text);
	if (l->pruned)
		buf_puts(&text, "the smallest stacks are cut short: all of them take more memory than --query-memory allows");
	if (l->runs)
		buf_printf(&text, "%sonly the latest %u matching runs are included; narrow the range or the selector", text.size ? "; " : "", l->runs);
	if (l->rows)
		buf_printf(&text, "%sonly the labels of the latest %u different runs are included; narrow the range or the selector",
			   text.size ? "; " : "", l->rows);
	if (text.size)
		r->warning = arena_copy(&r->bytes, text.data, text.size);
}

void pyroscope_call(struct server_context *s, const struct request *q, struct response *r)
{
	_cleanup_(buf_done) struct buf message = { 0 }, out = { 0 };
	_cleanup_(pyroscope_query_done) struct pyroscope_query query = { 0 };
	struct pyroscope_request request = { .context = s, .http = q, .query = &query, .message = &message };
	size_t i = pyroscope_call_index(q->path);
	struct err err = { 0 };
	int e;

	if (i == PYROSCOPE_CALLS) {
		pyroscope_missing(s, q, r);
		return;
	}
	buf_init(&message);
	buf_init(&out);
	if (!connect_read(q, calls[i].request, CONNECT_MESSAGE_MAX, &message, r))
		return;
	e = pyroscope_query_read(&query, calls[i].request, message.data, message.size, &err);
	if (e >= 0)
		e = calls[i].answer(&request, &out, &err);
	if (e < 0)
		profile_query_refuse(r, q, e, &err);
	else
		connect_answer(q, calls[i].response, &out, r);
	pyroscope_warn(&request.left_out, r);
}

void pyroscope_missing(struct server_context *s, const struct request *q, struct response *r)
{
	(void)s;
	response_error(r, q, 501, "strobe does not implement the call %.200s", connect_path(q->path) + 1);
}
