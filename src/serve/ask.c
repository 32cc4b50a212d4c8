/* ask.c: parameters, store, and the words for an empty answer. */

#include "ask.h"

#include "clock.h"
#include "text.h"
#include "why_no_samples.h"

#include <limits.h>
#include <string.h>

#define ENTRIES_NAMED 8u	/* in the sentence for an empty answer */

int ask_view(struct ask *a, const struct request *q, struct err *err)
{
	int r;

	memset(a, 0, sizeof(*a));
	arena_init(&a->view.bytes);
	r = params_parse(&a->params, q->query, err);
	if (r < 0)
		return r;
	return view_parse(&a->view, &a->params, q->now_ns, err);
}

int ask_profile(struct ask *a, const struct site *s, struct err *err)
{
	struct store_query query = view_query(&a->view);
	int r;

	query.max_nodes = s->max_nodes;
	r = store_query(s->options.store, &query, &a->profile, &a->looked, err);

	if (r < 0)
		return r;
	if (a->profile->column_count == 0) {
		/* Nothing matched. Whatever shows it may rely on a column, and "empty" explains more than "no such
		 * column". */
		profile_column(a->profile, "samples", "count");
		return 0;
	}
	a->column = profile_pick_column(a->profile, a->view.column);
	if (a->column == UINT32_MAX)
		return err_set(err, -EINVAL, "column=%.80s: these samples have no such column; the first one is %s",
			       a->view.column, a->profile->columns[0].name);
	a->total = profile_sum(a->profile, a->column);
	return 0;
}

void ask_done(struct ask *a)
{
	profile_free(a->profile);
	view_done(&a->view);
	params_done(&a->params);
}

void ask_refuse(struct response *r, const struct request *q, int code, const struct err *err)
{
	response_error(r, q, code == -EINVAL ? 400 : 500, "%s", err->text);
	r->out_of_memory = code == -ENOMEM;
}

static void json_time(struct json *j, const char *key, int64_t ns)
{
	json_key(j, key);
	json_double(j, (double)ns / 1e9);
}

static bool is_whole(const struct ask *a)
{
	return !a->looked.damaged_days && !a->looked.pruned;
}

static void put_damage(uint64_t n, struct buf *out)
{
	buf_printf(out, "%llu of the days asked for %s damaged, and what could not be read is missing here; the log names the "
		   "file%s", (unsigned long long)n, n == 1 ? "is" : "are", n == 1 ? "" : "s");
}

static void put_pruned(const struct ask *a, struct buf *out)
{
	buf_printf(out, "the smallest stacks, with %lld of %llu samples, are cut short at " PROFILE_PRUNED ": all of them take more "
		   "memory than --query-memory gives; ask for a shorter range or fewer labels",
		   (long long)a->looked.pruned_samples, (unsigned long long)a->looked.samples);
}

static void put_warning(const struct ask *a, struct buf *out)
{
	if (a->looked.damaged_days)
		put_damage(a->looked.damaged_days, out);
	if (a->looked.damaged_days && a->looked.pruned)
		buf_puts(out, "; ");
	if (a->looked.pruned)
		put_pruned(a, out);
}

const char *ask_warn(const struct ask *a, struct response *r)
{
	_cleanup_(buf_done) struct buf warning = { 0 };

	r->pruned = a->looked.pruned;
	if (is_whole(a))
		return NULL;
	buf_init(&warning);
	put_warning(a, &warning);
	return r->warning = arena_copy(&r->bytes, warning.data, warning.size);
}

void ask_json_head(const struct ask *a, const struct site *s, struct json *j)
{
	json_open_object(j);
	json_time(j, "from", a->view.from_ns);
	json_time(j, "to", a->view.to_ns);

	json_key(j, "looked");
	json_open_object(j);
	json_key(j, "days");
	json_u64(j, a->looked.days);
	json_key(j, "series");
	json_u64(j, a->looked.series);
	json_key(j, "series_matched");
	json_u64(j, a->looked.series_matched);
	json_key(j, "chunks");
	json_u64(j, a->looked.chunks);
	json_key(j, "samples");
	json_u64(j, a->looked.samples);
	json_time(j, "store_from", a->looked.first_ns);
	json_time(j, "store_to", a->looked.last_ns);
	json_key(j, "damaged_days");
	json_u64(j, a->looked.damaged_days);
	json_end(j);

	if (!is_whole(a)) {
		_cleanup_(buf_done) struct buf warning = { 0 };

		buf_init(&warning);
		put_warning(a, &warning);
		json_key(j, "warning");
		json_str(j, warning.data);
	}

	if (a->profile && a->total == 0) {
		_cleanup_(buf_done) struct buf why = { 0 };

		buf_init(&why);
		ask_why_empty(a, s, &why);
		json_key(j, "empty");
		json_str(j, why.data);
	}
}

static void put_entries(const struct store_label *l, struct buf *out)
{
	buf_puts(out, ", entries: ");
	for (size_t i = 0; i < l->value_count && i < ENTRIES_NAMED; i++) {
		if (i)
			buf_puts(out, ", ");
		text_put_plain(out, (struct str){ l->values[i].value, strlen(l->values[i].value) });
	}
	if (l->value_count > ENTRIES_NAMED)
		buf_printf(out, " and %zu more", l->value_count - ENTRIES_NAMED);
}

static void put_store_entries(const struct site *s, const struct store_looked *looked, struct buf *out)
{
	struct store_query all = { .from_ns = looked->first_ns, .to_ns = looked->last_ns + BATCH_BUCKET_NS };
	struct store_labels labels = { 0 };

	if (store_labels(s->options.store, &all, &labels, NULL) < 0)
		return;
	for (size_t i = 0; i < labels.count; i++)
		if (strcmp(labels.items[i].key, "entry") == 0 && labels.items[i].value_count)
			put_entries(&labels.items[i], out);
	store_labels_done(&labels);
}

void ask_why_empty(const struct ask *a, const struct site *s, struct buf *out)
{
	char first[32], last[32];

	if (a->looked.first_ns == 0 && a->looked.last_ns == 0) {
		buf_puts(out, "the store is empty, no sample has arrived yet: ");
		pthread_rwlock_rdlock((pthread_rwlock_t *)&s->lock);
		why_no_samples(s->options.sources, s->options.source_count, out);
		pthread_rwlock_unlock((pthread_rwlock_t *)&s->lock);
		return;
	}
	clock_format(a->looked.first_ns, first, sizeof(first));
	clock_format(a->looked.last_ns, last, sizeof(last));
	buf_puts(out, "no ");
	view_describe(&a->view, out);
	buf_printf(out, "; the store holds samples from %s to %s", first, last);
	put_store_entries(s, &a->looked, out);
}
