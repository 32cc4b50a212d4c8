/* sqlite_runs_query.c: reads one run with its profile, and lists the sources. */
#include "chart.h"
#include "mem.h"
#include "pack_reader.h"
#include "run_bytes.h"
#include "run_totals.h"
#include "sqlite_error.h"
#include "sqlite_store.h"
#include <assert.h>
#include <string.h>

DEFINE_FREEP(struct runs_file, runs_file_close)
DEFINE_FREEP(struct pack_reader, pack_reader_free)

int sqlite_runs_open(struct sqlite_store *s, struct runs_file **ret, struct err *err)
{
	struct err why = { 0 };
	int rc, held;

	held = files_lock_shared(&s->files);
	rc = runs_file_open(s->directory, false, ret, &why);
	files_lock_release(&s->files, held);
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

static char *text_or_null(sqlite3_stmt *row, int column)
{
	return sqlite3_column_type(row, column) == SQLITE_NULL ? NULL : xstrdup(text_of(row, column));
}

void sqlite_run_take(sqlite3_stmt *row, struct store_run *r)
{
	memset(r, 0, sizeof(*r));
	snprintf(r->source, sizeof(r->source), "%s", text_of(row, ROW_SOURCE));
	snprintf(r->id, sizeof(r->id), "%s", text_of(row, ROW_ID));
	r->start_ns = sqlite3_column_int64(row, ROW_START);
	r->duration_ns = sqlite3_column_int64(row, ROW_DURATION);
	r->stored_ns = sqlite3_column_int64(row, ROW_STORED);
	r->url = text_or_null(row, ROW_URL);
	r->name = text_or_null(row, ROW_NAME);
	if (*text_of(row, ROW_LABELS))
		labels_parse(text_of(row, ROW_LABELS), &r->labels, NULL);
	run_totals_get(sqlite3_column_blob(row, ROW_TOTALS), (size_t)sqlite3_column_bytes(row, ROW_TOTALS), r);
	r->nodes = (uint32_t)sqlite3_column_int64(row, ROW_NODES);
	r->bytes = (uint64_t)sqlite3_column_int64(row, ROW_BYTES_TAKEN);
}

/* --- Sources --- */

int sqlite_run_sources(struct store *store, struct store_label *ret, struct err *err)
{
	_cleanup_(runs_file_closep) struct runs_file *f = NULL;
	_cleanup_(stmt_finalizep) sqlite3_stmt *rows = NULL;
	size_t capacity = 0;
	int rc = sqlite_runs_open((struct sqlite_store *)store, &f, err);

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

/* --- One run --- */

/* Unpacks messages one after another. Returns 1 if any were pruned; -EBADMSG without a sentence. */
static int unpack(struct pack_reader *data, struct profile *p, const struct store_profile_limits *most, struct err *err)
{
	_cleanup_(freep) uint8_t *bytes = xmalloc(STROBE_WIRE_HEADER);
	uint64_t whole = pack_reader_left(data);
	bool pruned = false;

	while (pack_reader_left(data)) {
		size_t size;
		int rc = pack_reader_read(data, bytes, STROBE_WIRE_HEADER, err);

		if (rc < 0)
			return rc;
		size = (size_t)strobe_wire_get_le(bytes + 8, 4);
		if (size < STROBE_WIRE_HEADER || size > STROBE_WIRE_MAX)
			return -EBADMSG;
		bytes = xrealloc(bytes, size);
		rc = pack_reader_read(data, bytes + STROBE_WIRE_HEADER, size - STROBE_WIRE_HEADER, err);
		if (rc >= 0)
			rc = run_message_add(p, bytes, size, whole, most);
		if (rc < 0)
			return rc;
		pruned |= rc;
	}
	return pruned;
}

/* Finds the row of the run; returns 0 if there is none. */
static int find_row(struct runs_file *f, const char *source, const char *id, sqlite3_stmt **ret, struct err *err)
{
	int rc = sqlite_prepare(f->db, "SELECT " SQLITE_RUN_COLUMNS ", typeof(p.data) FROM run r LEFT JOIN profile p ON p.id = r.id"
				" WHERE source = ? AND run = ?", f->path, ret, err);

	if (rc < 0)
		return rc;
	sqlite3_bind_text(*ret, 1, source, -1, SQLITE_STATIC);
	sqlite3_bind_text(*ret, 2, id, -1, SQLITE_STATIC);
	rc = sqlite3_step(*ret);
	return rc == SQLITE_ROW ? 1 : rc == SQLITE_DONE ? 0 : sqlite_failed(f->db, "read", f->path, err);
}

static int read_profile(struct runs_file *f, sqlite3_stmt *row, struct profile *p, const struct store_profile_limits *most,
			struct err *err)
{
	_cleanup_(pack_reader_freep) struct pack_reader *data = NULL;
	int rc = -EBADMSG;

	if (!strcmp(text_of(row, ROW_COLUMNS), "blob"))
		rc = pack_reader_new(f->db, f->path, "profile", "data", sqlite3_column_int64(row, ROW_ROWID), &data, err);
	return rc < 0 ? rc : unpack(data, p, most && most->nodes ? most : NULL, err);
}

int sqlite_get_run(struct store *store, const char *source, const char *id, const struct store_profile_limits *most,
		   struct store_run *ret, struct profile **ret_profile, struct err *err)
{
	_cleanup_(runs_file_closep) struct runs_file *f = NULL;
	_cleanup_(stmt_finalizep) sqlite3_stmt *row = NULL;
	_cleanup_(profile_freep) struct profile *p = NULL;
	int rc = sqlite_runs_open((struct sqlite_store *)store, &f, err);

	if (rc >= 0 && f)
		rc = find_row(f, source, id, &row, err);
	if (rc < 0)
		return rc;
	if (!f || rc == 0)
		return err_set(err, -ENOENT, "there is no run '%.64s' of source '%.64s'", id, source);
	p = profile_new();
	profile_keep_chart(p, most && most->chart);
	profile_keep_lines(p, most && most->lines);
	rc = read_profile(f, row, p, most, err);
	if (rc < 0)
		sqlite_store_count_error((struct sqlite_store *)store);
	if (rc == -EBADMSG)
		return err_set(err, -EBADMSG, "the run '%.64s' of source '%.64s' is damaged in '%s'", id, source,
			       f->path);
	if (rc < 0)
		return rc;
	sqlite_run_take(row, ret);
	p->start_ns = ret->start_ns;
	p->end_ns = ret->start_ns + ret->duration_ns;
	if (p->chart)
		p->chart->start_ns += p->start_ns;
	*ret_profile = TAKE_PTR(p);
	return rc;
}
