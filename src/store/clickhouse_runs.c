/* clickhouse_runs.c: adding runs, and removing them.
 *
 * ClickHouse has no unique keys. Instead, all inserts into `runs` on one server share a query id, so that the server
 * runs one at a time, and they insert only names that do not exist yet: if two daemons add runs with the same name,
 * the second one sees the first one's run. A number in each row, its token, tells which daemon added it.
 *
 * The name of a run determines its shard. Since that changes when shards are added or removed, names are looked up on
 * all of them. */
#include "clickhouse_runs.h"
#include "clickhouse_batch.h"
#include "clickhouse_cluster.h"
#include "clickhouse_wire.h"
#include "clock.h"
#include "log.h"
#include "mem.h"
#include "run_bytes.h"
#include "run_totals.h"
#include <assert.h>
#include <limits.h>
#include <string.h>
#include <sys/random.h>

#define ROW_BYTES	600			/* approximate size of a run without its profile */
#define ROUND_BYTES	((size_t)64 << 20)	/* size of one insert, except for a larger single run */
#define TURN_NS		(20 * NS_PER_SECOND)	/* how long to wait for other daemons' inserts */

static const char columns[] =
	"month, source, id, seq, token, digest, start_ns, duration_ns, stored_ns, has, url, name, title, keys, vals, totals, nodes,"
	" bytes, wall_ns, cpu_ns, memory_bytes, peak_memory_bytes, calls, data";
static const char structure[] =
	"month UInt32, source String, id String, seq UInt64, token UInt64, digest String, start_ns Int64, duration_ns Int64,"
	" stored_ns Int64, has UInt8, url String, name String, title String, keys Array(String), vals Array(String),"
	" totals String, nodes UInt32, bytes UInt64, wall_ns Int64, cpu_ns Int64, memory_bytes Int64, peak_memory_bytes Int64,"
	" calls Int64, data String";

unsigned clickhouse_run_shard(const struct clickhouse_store *s, const char *source, const char *id)
{
	_cleanup_(freep) char *name = xasprintf("%s/%s", source, id);

	return clickhouse_shard(XXH3_64bits(name, strlen(name)), s->url.server_count);
}

static struct str str_of(const char *text)
{
	return (struct str){ text ? text : "", text ? strlen(text) : 0 };
}

void sql_put_run_name(struct buf *sql, const char *source, const char *id)
{
	buf_puts(sql, " AND source = ");
	sql_put_string(sql, str_of(source));
	buf_puts(sql, " AND id = ");
	sql_put_string(sql, str_of(id));
}

int clickhouse_no_such_run(const char *source, const char *id, struct err *err)
{
	return err_set(err, -ENOENT, "there is no run '%.64s' of source '%.64s'", id, source);
}

static uint64_t random_number(void)
{
	uint64_t n;

	if (getrandom(&n, sizeof(n), GRND_NONBLOCK) != sizeof(n))
		n = (uint64_t)clock_wall_ns() * 0x9e3779b97f4a7c15u;
	return n;
}

/* Returns a number that increases in the order in which runs are stored, across daemons only as precisely as their
 * clocks agree. */
static uint64_t next_seq(struct clickhouse_store *s)
{
	uint64_t seq = (uint64_t)clock_wall_ns();

	lock_take(&s->lock);
	seq = seq > s->last_seq ? seq : s->last_seq + 1;
	s->last_seq = seq;
	lock_release(&s->lock);
	return seq;
}

/* --- One row --- */

/* A run that is being added. */
struct adding {
	struct store_new_run *run;
	struct run_bytes bytes;
	unsigned shard;
	uint64_t token, size;
	bool settled;				/* its result is known */
	bool made_id, waits;			/* `waits`: an earlier run of this call has the same name */
	int tries;
};

/* Returns the text by which lists are sorted by name. */
static struct str title_of(const struct store_new_run *run, const char *url, const char *name)
{
	struct str title = str_of(name ? name : url ? url : run->id);

	title.n = title.n < 200 ? title.n : 200;
	return title;
}

static void put_row(struct clickhouse_store *s, const struct adding *a, int64_t now_ns, struct buf *row)
{
	const struct profile *p = a->run->profile;
	const char *url = labels_get(&p->labels, "url"), *name = labels_get(&p->labels, "name");
	struct str title = title_of(a->run, url, name);

	assert(*a->run->id && a->size >= ROW_BYTES);	/* it has its name and is packed */
	row_put(row, clickhouse_month(now_ns / NS_PER_DAY), 4);
	row_put_string(row, a->run->source, strlen(a->run->source));
	row_put_string(row, a->run->id, strlen(a->run->id));
	row_put(row, next_seq(s), 8);
	row_put(row, a->token, 8);
	row_put_string(row, &a->bytes.digest, sizeof(a->bytes.digest));
	row_put(row, (uint64_t)a->bytes.start_ns, 8);
	row_put(row, (uint64_t)a->bytes.duration_ns, 8);
	row_put(row, (uint64_t)now_ns, 8);
	row_put(row, (url ? 1u : 0) | (name ? 2u : 0), 1);
	row_put_string(row, str_of(url).p, str_of(url).n);
	row_put_string(row, str_of(name).p, str_of(name).n);
	row_put_string(row, title.p, title.n);
	row_put_labels(row, &a->bytes.rest);
	row_put_string(row, a->bytes.totals.data, a->bytes.totals.size);
	row_put(row, p->node_count, 4);
	row_put(row, a->size, 8);
	for (size_t i = 0; i < RUN_TOTALS_SORTED; i++)
		row_put(row, (uint64_t)run_total_of(p, run_totals_sorted[i]), 8);
	row_put_string(row, a->bytes.packed.data, a->bytes.packed.size);
}

/* --- Adding --- */

#define ANY_SHARD	UINT_MAX

static bool is_due(const struct adding *a, unsigned shard)
{
	return !a->settled && !a->waits && *a->run->id && (shard == ANY_SHARD || a->shard == shard);
}

static void put_names(const struct adding *list, size_t count, unsigned shard, struct buf *sql)
{
	bool any = false;

	for (size_t i = 0; i < count; i++) {
		if (!is_due(&list[i], shard))
			continue;
		buf_puts(sql, any ? ", (" : "(");
		sql_put_string(sql, str_of(list[i].run->source));
		buf_puts(sql, ", ");
		sql_put_string(sql, str_of(list[i].run->id));
		buf_putc(sql, ')');
		any = true;
	}
}

static int settle(struct adding *a, int result)
{
	assert(!a->settled && (result == 0 || result == 1 || run_is_final(result)));
	a->settled = true;
	a->run->result = result;
	if (result == -EEXIST)
		err_set(&a->run->err, -EEXIST, "there is another run '%s' of source '%s'; give this one a different id, "
			"or remove that one", a->run->id, a->run->source);
	return result;
}

static bool is_name_of(const struct adding *a, struct str source, struct str id)
{
	return !strncmp(a->run->source, source.p, source.n) && !a->run->source[source.n] &&
	       !strncmp(a->run->id, id.p, id.n) && !a->run->id[id.n];
}

/* Settles a run by the row of its name: ours, a duplicate, or another one. */
static void settle_by_row(struct adding *a, uint64_t token, struct str digest)
{
	bool same = digest.n == sizeof(a->bytes.digest) && !memcmp(digest.p, &a->bytes.digest, digest.n);

	assert(is_due(a, ANY_SHARD));
	if (token == a->token && same)
		settle(a, 1);
	else if (same)
		settle(a, 0);
	else if (a->made_id && ++a->tries < RUN_MADE_IDS)
		*a->run->id = 0;		/* retry with another id */
	else
		settle(a, -EEXIST);
}

/* Settles the runs of `shard` whose names exist on the server `at`. */
static int settle_known_at(struct clickhouse_store *s, unsigned at, unsigned shard, struct adding *list, size_t count, struct err *err)
{
	_cleanup_(buf_done) struct buf sql = { 0 }, answer = { 0 };
	struct row_reader r;
	int rc;

	buf_init(&sql);
	buf_init(&answer);
	buf_puts(&sql, "SELECT source, id, token, digest FROM runs WHERE (source, id) IN (");
	put_names(list, count, shard, &sql);
	buf_puts(&sql, ") AND " CLICKHOUSE_LIVE " FORMAT RowBinary");
	rc = clickhouse_ask(s, at, &(struct clickhouse_request){ .sql = sql.data }, &answer, err);
	if (rc < 0)
		return rc;
	for (r = row_reader_of(&answer); row_more(&r); ) {
		struct str source = row_get_string(&r), id = row_get_string(&r);
		uint64_t token = row_get(&r, 8);
		struct str digest = row_get_string(&r);

		for (size_t i = 0; i < count && !r.bad; i++)
			if (is_due(&list[i], shard) && is_name_of(&list[i], source, id))
				settle_by_row(&list[i], token, digest);
	}
	return 0;
}

static int settle_known(struct clickhouse_store *s, unsigned shard, struct adding *list, size_t count, struct err *err)
{
	return settle_known_at(s, shard, shard, list, count, err);
}

/* Waits while another insert is running. */
static int insert(struct clickhouse_store *s, unsigned shard, const struct clickhouse_request *r, struct err *err)
{
	int64_t until_ns = clock_monotonic_ns() + TURN_NS;
	int rc;

	while ((rc = clickhouse_ask(s, shard, r, NULL, err)) == -EBUSY && clock_monotonic_ns() < until_ns)
		usleep(20000 + (unsigned)(random_number() % 20000));
	return rc;
}

static int send_rows(struct clickhouse_store *s, unsigned shard, const struct adding *list, size_t count, int64_t now_ns,
		     struct err *err)
{
	_cleanup_(freep) char *query_id = xasprintf("strobe-%s-runs", s->url.database);
	_cleanup_(buf_done) struct buf sql = { 0 }, rows = { 0 };
	struct clickhouse_request r = { .query_id = query_id, .table = structure, .rows = &rows, .writes = true };

	buf_init(&sql);
	buf_init(&rows);
	for (size_t i = 0; i < count; i++)
		if (is_due(&list[i], shard))
			put_row(s, &list[i], now_ns, &rows);
	if (!rows.size)
		return 0;
	buf_printf(&sql, "INSERT INTO runs SELECT %s FROM given WHERE (source, id) NOT IN (SELECT source, id FROM runs WHERE"
		   " (source, id) IN (", columns);
	put_names(list, count, shard, &sql);
	buf_puts(&sql, ") AND " CLICKHOUSE_LIVE ")");
	r.sql = sql.data;
	return insert(s, shard, &r, err);
}

static bool has_any(const struct adding *list, size_t count, unsigned shard)
{
	for (size_t i = 0; i < count; i++)
		if (is_due(&list[i], shard))
			return true;
	return false;
}

static int settle_and_send(struct clickhouse_store *s, unsigned shard, struct adding *list, size_t count, int64_t now_ns,
			   struct err *err)
{
	int rc = settle_known(s, shard, list, count, err);

	if (rc < 0 || !has_any(list, count, shard))
		return rc;
	rc = send_rows(s, shard, list, count, now_ns, err);
	return rc < 0 ? rc : settle_known(s, shard, list, count, err);
}

struct adding_all {
	struct adding *list;
	size_t count;
	int64_t now_ns;
};

static int add_to_shard(struct clickhouse_store *s, unsigned shard, void *data, struct err *err)
{
	struct adding_all *a = data;
	int rc = settle_and_send(s, shard, a->list, a->count, a->now_ns, err);

	return rc < 0 ? rc : clickhouse_check_committed(s, shard, "runs", err);
}

static int settle_known_of_any_shard(struct clickhouse_store *s, unsigned shard, void *data, struct err *err)
{
	struct adding_all *a = data;

	return settle_known_at(s, shard, ANY_SHARD, a->list, a->count, err);
}

/* Finds runs that were stored when the number of shards was different. A shard that is unavailable is skipped, so
 * that it does not block the others' runs. */
static int settle_known_everywhere(struct clickhouse_store *s, struct adding_all *a, struct err *err)
{
	for (unsigned at = 0; s->url.server_count > 1 && at < s->url.server_count && has_any(a->list, a->count, ANY_SHARD); at++) {
		struct err why = { 0 };
		int rc = clickhouse_one_shard(s, at, settle_known_of_any_shard, a, &why);

		if (rc < 0 && !clickhouse_is_unreachable(rc))
			return err_set(err, rc, "%s", why.text);
	}
	return 0;
}

/* Packs the run under its own name or a free one. A run that can never be stored is settled with its error. */
static int pack(struct clickhouse_store *s, struct adding *a, int64_t now_ns, struct err *err)
{
	int rc;

	if (a->made_id)
		run_make_id(now_ns, a->run->id);
	run_bytes_done(&a->bytes);
	a->bytes = (struct run_bytes){ 0 };
	rc = run_bytes_of(&a->bytes, a->run, now_ns, &a->run->err);
	if (rc < 0 && !run_is_final(rc))
		return err_set(err, rc, "%s", a->run->err.text);
	if (rc < 0) {
		settle(a, rc);
		return 0;
	}
	a->token = random_number();
	a->size = a->bytes.packed.size + a->bytes.totals.size + a->bytes.label_text.size + ROW_BYTES;
	a->shard = clickhouse_run_shard(s, a->run->source, a->run->id);
	return 0;
}

static bool has_a_predecessor(const struct adding *list, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (!list[k].settled && !list[k].waits && !strcmp(list[k].run->id, list[i].run->id) &&
		    !strcmp(list[k].run->source, list[i].run->source))
			return true;
	return false;
}

/* Runs with the same name are added one after another, and no insert is much larger than ROUND_BYTES. */
static int add_round(struct clickhouse_store *s, struct adding *list, size_t count, int64_t now_ns, struct err *err)
{
	struct adding_all all = { list, count, now_ns };
	size_t bytes = 0;
	int rc = 0;

	for (size_t i = 0; rc >= 0 && i < count; i++) {
		if (list[i].settled)
			continue;
		if (!*list[i].run->id || !list[i].size)
			rc = pack(s, &list[i], now_ns, err);
		list[i].waits = bytes > ROUND_BYTES || has_a_predecessor(list, i);
		if (!list[i].waits)
			bytes += list[i].size;
	}
	if (rc >= 0)
		rc = settle_known_everywhere(s, &all, err);
	for (unsigned shard = 0; rc >= 0 && shard < s->url.server_count; shard++)
		if (has_any(list, count, shard))
			rc = clickhouse_one_shard(s, shard, add_to_shard, &all, err);
	return rc;
}

static bool all_settled(const struct adding *list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!list[i].settled)
			return false;
	return true;
}

static int add_all(struct clickhouse_store *s, struct adding *list, size_t count, int64_t now_ns, struct err *err)
{
	int rc = 0;

	for (size_t i = 0; i < count; i++) {
		memset(&list[i].run->err, 0, sizeof(list[i].run->err));
		rc = run_take_name(list[i].run, &list[i].run->err);
		list[i].made_id = rc >= 0 && !*list[i].run->id;
		if (rc < 0)
			settle(&list[i], rc);
	}
	rc = 0;
	while (rc >= 0 && !all_settled(list, count))
		rc = add_round(s, list, count, now_ns, err);
	return rc;
}

int clickhouse_add_runs(struct store *store, struct store_new_run *runs, size_t count, int64_t now_ns, struct err *err)
{
	struct clickhouse_store *s = clickhouse_of(store);
	struct adding *list = xcalloc(count, sizeof(*list));
	int rc = clickhouse_prepare(s, err);

	for (size_t i = 0; i < count; i++)
		list[i].run = &runs[i];
	if (rc >= 0)
		rc = add_all(s, list, count, now_ns, err);
	assert(rc < 0 || all_settled(list, count));
	lock_take(&s->lock);
	s->stats.errors += rc < 0;
	for (size_t i = 0; i < count; i++) {
		if (rc >= 0 && runs[i].result == 1) {
			s->stats.runs++;
			s->stats.runs_added++;
			s->stats.runs_bytes += list[i].size;
		}
		run_bytes_done(&list[i].bytes);
	}
	lock_release(&s->lock);
	free(list);
	return rc < 0 ? rc : 0;
}

/* --- Removing --- */

int clickhouse_note_removed(struct clickhouse_store *s, unsigned shard, const struct buf *rows, struct err *err)
{
	struct clickhouse_request r = {
		.sql = "INSERT INTO runs_removed FORMAT RowBinary", .rows = rows, .writes = true,
	};

	return rows->size ? clickhouse_ask(s, shard, &r, NULL, err) : 0;
}

void clickhouse_count_removed(struct clickhouse_store *s, const uint64_t removed[STORE_REMOVALS], uint64_t bytes)
{
	uint64_t all = 0;

	lock_take(&s->lock);
	for (size_t i = 0; i < STORE_REMOVALS; i++) {
		s->stats.runs_removed[i] += removed[i];
		all += removed[i];
	}
	s->stats.runs -= all < s->stats.runs ? all : s->stats.runs;
	s->stats.runs_bytes -= bytes < s->stats.runs_bytes ? bytes : s->stats.runs_bytes;
	lock_release(&s->lock);
}

struct removing {
	const char *source, *id;
	uint64_t bytes;
	bool found;
};

static int remove_at(struct clickhouse_store *s, unsigned shard, void *data, struct err *err)
{
	struct removing *m = data;
	_cleanup_(buf_done) struct buf sql = { 0 }, rows = { 0 }, answer = { 0 };
	struct row_reader r;
	int rc;

	buf_init(&sql);
	buf_init(&rows);
	buf_init(&answer);
	buf_puts(&sql, "SELECT month, seq, bytes FROM runs WHERE " CLICKHOUSE_LIVE);
	sql_put_run_name(&sql, m->source, m->id);
	buf_puts(&sql, " FORMAT RowBinary");
	rc = clickhouse_ask(s, shard, &(struct clickhouse_request){ .sql = sql.data }, &answer, err);
	if (rc < 0)
		return rc;
	for (r = row_reader_of(&answer); row_more(&r); ) {
		row_put(&rows, row_get(&r, 4), 4);
		row_put(&rows, row_get(&r, 8), 8);
		m->bytes += row_get(&r, 8);
		m->found = true;
	}
	return clickhouse_note_removed(s, shard, &rows, err);
}

int clickhouse_remove_run(struct store *store, const char *source, const char *id, struct err *err)
{
	struct clickhouse_store *s = clickhouse_of(store);
	struct removing m = { .source = source, .id = id };
	int rc = clickhouse_prepare(s, err);

	for (unsigned i = 0; rc >= 0 && i < s->url.server_count; i++)
		rc = clickhouse_one_shard(s, i, remove_at, &m, err);
	if (m.found)
		clickhouse_count_removed(s, (uint64_t[STORE_REMOVALS]){ [STORE_REMOVED_REQUEST] = 1 }, m.bytes);
	return rc < 0 || m.found ? rc : clickhouse_no_such_run(source, id, err);
}
