/* sqlite_hours.c: the oldest hours of a day that is being written, for when even that day is too large. */
#include "chunk.h"
#include "log.h"
#include "mem.h"
#include "sqlite_store.h"

static uint64_t pages(struct day *d, const char *pragma)
{
	int64_t n = day_number(d, pragma, 0);

	return n > 0 ? (uint64_t)n : 0;
}

/* What is in use, in bytes, however large the file is at the moment. */
static uint64_t used_bytes(struct day *d)
{
	uint64_t all = pages(d, "PRAGMA page_count"), unused = pages(d, "PRAGMA freelist_count");

	return (all - (unused < all ? unused : all)) * pages(d, "PRAGMA page_size");
}

static int drop_hour(struct day *d, unsigned hour, struct err *err)
{
	_cleanup_(freep) char *sql =
		xasprintf("BEGIN IMMEDIATE; DELETE FROM chunk WHERE id < %lld; DELETE FROM recent WHERE bucket < %u; COMMIT;",
			  (long long)chunk_id(hour + 1, 0), (hour + 1) * CHUNK_BUCKETS);
	int rc = day_exec(d, sql, "remove hours of", err);

	if (rc < 0 && !sqlite3_get_autocommit(d->db))
		sqlite3_exec(d->db, "ROLLBACK", NULL, NULL, NULL);
	return rc;
}

/* All but the newest hour may go. Returns how many did. */
static int drop_hours(struct day *d, uint64_t keep, struct err *err)
{
	unsigned first, end;
	int hours = 0, rc = 0;

	while (rc >= 0 && used_bytes(d) > keep && day_extent(d, &first, &end) &&
	       first / CHUNK_BUCKETS < (end - 1) / CHUNK_BUCKETS) {
		rc = drop_hour(d, first / CHUNK_BUCKETS, err);
		hours += rc >= 0;
	}
	return rc < 0 ? rc : hours;
}

int sqlite_store_drop_hours(struct sqlite_store *s, int64_t number, uint64_t too_much, struct err *err)
{
	struct day *d;
	uint64_t used;
	int rc;

	pthread_mutex_lock(&s->writer);
	rc = sqlite_store_day(s, number, &d, err);
	if (rc >= 0) {
		used = pages(d, "PRAGMA page_count") * pages(d, "PRAGMA page_size");
		rc = drop_hours(d, used > too_much ? used - too_much : 0, err);
		if (rc >= 0 && day_give_back(d, 0, "remove hours of", err) < 0)
			log_warning("'%s' could not be made smaller now; it is tried again", d->path);
	}
	pthread_mutex_unlock(&s->writer);
	if (rc <= 0)
		return rc;
	pthread_mutex_lock(&s->counting);
	s->stats.hours_expired += (uint64_t)rc;
	pthread_mutex_unlock(&s->counting);
	return rc;
}
