/* sqlite_runs_query.c: which runs there are, and one of them with its profile. */
#include "mem.h"
#include "pack.h"
#include "series.h"
#include "sqlite_error.h"
#include "sqlite_store.h"
#include "wire_profile.h"
#include <string.h>

#define COLUMNS "id, source, run, start_ns, duration_ns, stored_ns, url, name, labels, totals, nodes, bytes"

DEFINE_FREEP(struct runs_file, runs_file_close)

/* Each question has its own connection. Returns 0 without one if there are no runs at all. */
static int open_to_read(struct sqlite_store *s, struct runs_file **ret, struct err *err)
{
	struct err why = { 0 };
	int rc, held;

	held = files_lock_read(&s->files);
	rc = runs_file_open(s->directory, false, ret, &why);
	files_lock_end(&s->files, held);
	if (rc == -ENOENT)
		return 0;
	if (rc < 0)
		sqlite_store_count_error(s);
	return rc < 0 ? err_set(err, rc, "%s", why.text) : 0;
}

/* --- A row --- */

static const char *text_of(sqlite3_stmt *row, int column)
{
	const unsigned char *text = sqlite3_column_text(row, column);

	return text ? (const char *)text : "";
}

static bool get_bytes(struct strobe_wire_cursor *c, char ret[64])
{
	uint64_t n;

	if (!strobe_wire_get_varint(c, &n) || n >= 64 || n > (size_t)(c->end - c->p))
		return false;
	memcpy(ret, c->p, n);
	ret[n] = 0;
	c->p += n;
	return true;
}

/* As far as they make sense. */
static void get_totals(sqlite3_stmt *row, int column, struct store_run *r)
{
	const uint8_t *p = sqlite3_column_blob(row, column);
	struct strobe_wire_cursor c = { p, p + (p ? sqlite3_column_bytes(row, column) : 0) };
	uint64_t value;

	while (p && c.p < c.end && r->total_count < PROFILE_COLUMNS) {
		struct store_run_total *t = &r->totals[r->total_count];

		if (!get_bytes(&c, t->name) || !get_bytes(&c, t->unit) || !strobe_wire_get_varint(&c, &value))
			return;
		t->value = strobe_wire_unzigzag(value);
		r->total_count++;
	}
}

static void take_row(sqlite3_stmt *row, struct store_run *r)
{
	memset(r, 0, sizeof(*r));
	snprintf(r->source, sizeof(r->source), "%s", text_of(row, 1));
	snprintf(r->id, sizeof(r->id), "%s", text_of(row, 2));
	r->start_ns = sqlite3_column_int64(row, 3);
	r->duration_ns = sqlite3_column_int64(row, 4);
	r->stored_ns = sqlite3_column_int64(row, 5);
	r->url = sqlite3_column_type(row, 6) == SQLITE_NULL ? NULL : xstrdup(text_of(row, 6));
	r->name = sqlite3_column_type(row, 7) == SQLITE_NULL ? NULL : xstrdup(text_of(row, 7));
	if (*text_of(row, 8))
		labels_parse(text_of(row, 8), &r->labels, NULL);
	get_totals(row, 9, r);
	r->nodes = (uint32_t)sqlite3_column_int64(row, 10);
	r->bytes = (uint64_t)sqlite3_column_int64(row, 11);
}

/* --- Many --- */

static bool is_wanted(const struct store_run *r, const struct store_run_query *q)
{
	const struct series labels = { .labels = r->labels };

	if (q->url_part && !strstr(r->url ? r->url : "", q->url_part))
		return false;
	return series_matches(&labels, q->filters, q->filter_count);
}

static int parse_cursor(const char *text, int64_t *ret_start, int64_t *ret_id, struct err *err)
{
	long long start, id;
	int n = 0;

	*ret_start = *ret_id = INT64_MAX;
	if (!text || !*text)
		return 0;
	if (strlen(text) > 41 || sscanf(text, "%20lld.%20lld%n", &start, &id, &n) != 2 || text[n])
		return err_set(err, -EINVAL, "'%.50s' is no place in the list of runs; take it from the answer before",
			       text);
	*ret_start = start;
	*ret_id = id;
	return 0;
}

static int prepare_list(struct runs_file *f, const struct store_run_query *q, sqlite3_stmt **ret, struct err *err)
{
	int64_t start, id;
	int rc = parse_cursor(q->after, &start, &id, err);

	if (rc < 0)
		return rc;
	rc = sqlite_prepare(f->db, q->source ?
			    "SELECT " COLUMNS " FROM run WHERE source = ?5 AND start_ns >= ?1 AND start_ns < ?2 AND"
			    " (start_ns, id) < (?3, ?4) ORDER BY start_ns DESC, id DESC" :
			    "SELECT " COLUMNS " FROM run WHERE start_ns >= ?1 AND start_ns < ?2 AND"
			    " (start_ns, id) < (?3, ?4) ORDER BY start_ns DESC, id DESC", f->path, ret, err);
	if (rc < 0)
		return rc;
	sqlite3_bind_int64(*ret, 1, q->from_ns);
	sqlite3_bind_int64(*ret, 2, q->to_ns ? q->to_ns : INT64_MAX);
	sqlite3_bind_int64(*ret, 3, start);
	sqlite3_bind_int64(*ret, 4, id);
	if (q->source)
		sqlite3_bind_text(*ret, 5, q->source, -1, SQLITE_STATIC);
	return 0;
}

static int read_list(struct runs_file *f, sqlite3_stmt *rows, const struct store_run_query *q, struct store_runs *ret,
		     struct err *err)
{
	int64_t last_start = 0, last_id = 0;
	size_t capacity = 0;
	int rc;

	while ((rc = sqlite3_step(rows)) == SQLITE_ROW) {
		struct store_run r;

		ret->looked++;
		take_row(rows, &r);
		if (!is_wanted(&r, q)) {
			store_run_done(&r);
			continue;
		}
		if (ret->count == q->limit) {
			snprintf(ret->next, sizeof(ret->next), "%lld.%lld", (long long)last_start, (long long)last_id);
			store_run_done(&r);
			return 0;
		}
		GROW(&ret->items, &capacity, ret->count + 1);
		ret->items[ret->count++] = r;
		last_start = r.start_ns;
		last_id = sqlite3_column_int64(rows, 0);
	}
	return rc == SQLITE_DONE ? 0 : sqlite_failed(f->db, "read", f->path, err);
}

int sqlite_list_runs(struct store *store, const struct store_run_query *q, struct store_runs *ret, struct err *err)
{
	_cleanup_(runs_file_closep) struct runs_file *f = NULL;
	_cleanup_(stmt_finalizep) sqlite3_stmt *rows = NULL;
	int64_t unused;
	int rc = open_to_read((struct sqlite_store *)store, &f, err);

	if (rc >= 0 && !f)
		rc = parse_cursor(q->after, &unused, &unused, err);
	if (rc < 0 || !f)
		return rc;
	rc = prepare_list(f, q, &rows, err);
	if (rc >= 0)
		rc = read_list(f, rows, q, ret, err);
	if (rc < 0)
		store_runs_done(ret);
	return rc;
}

int sqlite_run_sources(struct store *store, struct store_label *ret, struct err *err)
{
	_cleanup_(runs_file_closep) struct runs_file *f = NULL;
	_cleanup_(stmt_finalizep) sqlite3_stmt *rows = NULL;
	size_t capacity = 0;
	int rc = open_to_read((struct sqlite_store *)store, &f, err);

	if (rc < 0)
		return rc;
	ret->key = xstrdup("source");
	if (!f)
		return 0;
	rc = sqlite_prepare(f->db, "SELECT source, count(*) FROM run GROUP BY source ORDER BY 2 DESC, 1", f->path,
			    &rows, err);
	while (rc >= 0 && (rc = sqlite3_step(rows)) == SQLITE_ROW) {
		GROW(&ret->values, &capacity, ret->value_count + 1);
		ret->values[ret->value_count].value = xstrdup(text_of(rows, 0));
		ret->values[ret->value_count++].samples = (uint64_t)sqlite3_column_int64(rows, 1);
	}
	if (rc >= 0 && rc != SQLITE_DONE)
		rc = sqlite_failed(f->db, "read", f->path, err);
	if (rc < 0)
		store_label_done(ret);
	return rc < 0 ? rc : 0;
}

/* --- One --- */

static int unpack(sqlite3_stmt *row, int column, struct profile *p)
{
	_cleanup_(buf_done) struct buf scratch = { 0 };
	const void *data = sqlite3_column_blob(row, column);
	const uint8_t *bytes;
	size_t n;

	buf_init(&scratch);
	if (!data || pack_get(data, (size_t)sqlite3_column_bytes(row, column), &scratch, &bytes, &n) < 0)
		return -EBADMSG;
	while (n) {
		size_t size = n < STROBE_WIRE_HEADER ? n : (size_t)strobe_wire_get_le(bytes + 8, 4);
		struct strobe_wire_message m;

		if (size > n || strobe_wire_parse(bytes, size, &m) || wire_profile_add_whole(p, &m) < 0)
			return -EBADMSG;
		wire_profile_labels(&m, &p->labels);
		p->period_ns = (int64_t)m.info.period_ns;
		bytes += size;
		n -= size;
	}
	return 0;
}

int sqlite_get_run(struct store *store, const char *source, const char *id, struct store_run *ret,
		   struct profile **ret_profile, struct err *err)
{
	_cleanup_(runs_file_closep) struct runs_file *f = NULL;
	_cleanup_(stmt_finalizep) sqlite3_stmt *row = NULL;
	_cleanup_(profile_freep) struct profile *p = NULL;
	int rc = open_to_read((struct sqlite_store *)store, &f, err);

	if (rc >= 0 && f)
		rc = sqlite_prepare(f->db, "SELECT r.id, source, run, start_ns, duration_ns, stored_ns, url, name, "
				    "labels, totals, nodes, bytes, data FROM run r LEFT JOIN profile p ON p.id = r.id"
				    " WHERE source = ? AND run = ?", f->path, &row, err);
	if (rc < 0)
		return rc;
	if (f) {
		sqlite3_bind_text(row, 1, source, -1, SQLITE_STATIC);
		sqlite3_bind_text(row, 2, id, -1, SQLITE_STATIC);
		rc = sqlite3_step(row);
		if (rc != SQLITE_ROW && rc != SQLITE_DONE)
			return sqlite_failed(f->db, "read", f->path, err);
	}
	if (!f || rc == SQLITE_DONE)
		return err_set(err, -ENOENT, "there is no run '%.64s' of source '%.64s'", id, source);
	p = profile_new();
	if (unpack(row, 12, p) < 0) {
		sqlite_store_count_error((struct sqlite_store *)store);
		return err_set(err, -EBADMSG, "the run '%.64s' of source '%.64s' is damaged in '%s'", id, source,
			       f->path);
	}
	take_row(row, ret);
	p->start_ns = ret->start_ns;
	p->end_ns = ret->start_ns + ret->duration_ns;
	*ret_profile = TAKE_PTR(p);
	return 0;
}
