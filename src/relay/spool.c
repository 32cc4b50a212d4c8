/* spool.c: appends, reads in order, and drops the oldest entries at the cap. */
#include "spool_private.h"

#include "clock.h"
#include "log.h"
#include "mem.h"

#include <assert.h>
#include <string.h>

/* --- Counting --- */

const char *spool_drop_name(enum spool_drop d)
{
	static const char *const names[SPOOL_DROPS] = { "spool_full", "damaged", "too_large", "rejected" };

	return (unsigned)d < SPOOL_DROPS ? names[d] : "other";
}

/* Sums wrap at 2^64, since damaged files may contain any number. */
bool spool_counters_balance(const struct spool_counters *n)
{
	uint64_t samples = n->samples_forwarded + n->samples_deduplicated + n->samples_waiting;
	uint64_t runs = n->runs_forwarded + n->runs_deduplicated + n->runs_waiting;

	for (unsigned i = 0; i < SPOOL_DROPS; i++) {
		samples += n->samples_dropped[i];
		runs += n->runs_dropped[i];
	}
	return n->samples_recovered + n->samples_received == samples && n->runs_recovered + n->runs_received == runs;
}

void spool_count_drop(struct spool_counters *n, enum spool_drop why, uint64_t samples, uint64_t runs)
{
	assert((unsigned)why < SPOOL_DROPS);
	n->samples_dropped[why] += samples;
	n->samples_waiting -= samples;
	n->runs_dropped[why] += runs;
	n->runs_waiting -= runs;
}

static void take_from_segment(struct segment *g, uint64_t samples, uint64_t runs)
{
	assert(g->samples >= samples && g->runs >= runs && g->records > 0);
	g->samples -= samples;
	g->runs -= runs;
	g->records--;
}

/* After damage at run time, bytes may look like a record by chance. A real one cannot hold more than was written in
 * all. */
static bool is_plausible(const struct spool *s, const struct segment *g, const struct record *r)
{
	uint64_t samples = r->samples, runs = r->runs, records = 1;

	for (size_t i = 0; i < s->flight_count; i++) {
		if (s->flights[i].segment != g)
			continue;
		samples += s->flights[i].samples;
		runs += s->flights[i].runs;
		records++;
	}
	return samples >= r->samples && samples <= g->samples && runs <= g->runs && records <= g->records &&
	       mark_is_within(mark_after(r), g->end);
}

static void settle(struct spool *s, struct mark m)
{
	assert(lock_is_held(&s->lock));
	if (m.sequence <= s->settled.sequence)
		return;
	s->settled = m;
	position_save(s);
}

static void log_damage(struct spool *s)
{
	if (log_is_due(&s->next_damage_log_ns))
		log_warning("the spool '%s' is damaged, and its unreadable part was dropped; check the disk", s->directory);
}

static void drop_damaged(struct spool *s, struct segment *g, uint64_t samples, uint64_t runs, uint64_t records)
{
	if (!samples && !runs && !records)
		return;
	assert(g->samples >= samples && g->runs >= runs && g->records >= records);
	g->samples -= samples;
	g->runs -= runs;
	g->records -= records;
	s->counters->records_waiting -= records;
	spool_count_drop(s->counters, SPOOL_DROP_DAMAGED, samples, runs);
	log_damage(s);
}

/* Drops what still counts as waiting in a segment that the reader has finished. */
static void drop_unreadable(struct spool *s, struct segment *g)
{
	drop_damaged(s, g, g->samples, g->runs, g->records);
	settle(s, g->end);
}

static void note_oldest(struct spool *s)
{
	struct spool_counters *n = s->counters;
	struct record r;

	if (s->flight_count)
		n->oldest_ns = s->flights[0].time_ns;
	else if (!n->records_waiting)
		n->oldest_ns = 0;
	else if (s->reading < s->segment_count && record_at(s->segments[s->reading]->fd, s->read_at,
							    s->segments[s->reading]->size, &r) == 1)
		n->oldest_ns = r.time_ns;
}

/* --- Removing --- */

static bool has_flights(const struct spool *s, const struct segment *g)
{
	for (size_t i = 0; i < s->flight_count; i++)
		if (s->flights[i].segment == g)
			return true;
	return false;
}

/* Removes the first segment. The position is synced before, or after a power loss an older one would count these
 * entries as damaged. */
static void remove_first(struct spool *s)
{
	struct segment *g = s->segments[0];

	assert(s->segment_count > 0 && !has_flights(s, g));
	assert(s->counters->bytes >= (uint64_t)g->size);
	fdatasync(s->position_fd);
	s->counters->bytes -= (uint64_t)g->size;
	segment_remove(s, g);
	segment_free(g);
	memmove(s->segments, s->segments + 1, --s->segment_count * sizeof(*s->segments));
	if (s->reading)
		s->reading--;
	else
		s->read_at = 0;
}

/* Entries in flight are counted when their fate is known. */
static void drop_first(struct spool *s)
{
	struct segment *g = s->segments[0];

	for (size_t i = 0; i < s->flight_count; i++) {
		if (s->flights[i].segment != g)
			continue;
		take_from_segment(g, s->flights[i].samples, s->flights[i].runs);
		s->counters->records_waiting--;
		s->flights[i].segment = NULL;
	}
	spool_count_drop(s->counters, SPOOL_DROP_FULL, g->samples, g->runs);
	s->counters->records_waiting -= g->records;
	settle(s, g->end);
	remove_first(s);
}

/* Removes segments that the reader has finished and that have no pending entry. */
static void remove_finished(struct spool *s)
{
	while (s->reading > 0 && !has_flights(s, s->segments[0])) {
		drop_unreadable(s, s->segments[0]);
		remove_first(s);
	}
}

/* --- Appending --- */

static uint64_t size_of(const struct spool_piece *pieces, size_t count)
{
	uint64_t n = 0;

	for (size_t i = 0; i < count; i++)
		n += RECORD_HEADER + pieces[i].size;
	return n;
}

static struct segment *last_segment(struct spool *s)
{
	return s->segment_count ? s->segments[s->segment_count - 1] : NULL;
}

/* Makes room for `need` bytes below the cap in the segment being written. */
static int make_room(struct spool *s, uint64_t need, struct err *err)
{
	uint64_t segment_bytes = s->max_bytes / SEGMENTS_WANTED;
	struct segment *g = last_segment(s);
	int r;

	if (need > s->max_bytes)
		return err_set(err, -EFBIG, "the spool '%s' is limited to less than %llu "
					    "bytes; raise spool=", s->directory,
			       (unsigned long long)need);
	if (segment_bytes < SEGMENT_LEAST)
		segment_bytes = SEGMENT_LEAST;
	if (!g || (g->size && ((uint64_t)g->size >= segment_bytes || (uint64_t)g->size + need > s->max_bytes))) {
		r = segment_open(s, s->written.sequence + 1, true, err);
		if (r < 0)
			return r;
	}
	while (s->counters->bytes + need > s->max_bytes && s->segment_count > 1)
		drop_first(s);
	assert(s->segment_count > 0);
	return 0;
}

static int write_pieces(struct spool *s, struct segment *g, const struct spool_piece *pieces, size_t count,
			uint64_t window)
{
	int64_t now = clock_wall_ns();
	struct mark end = s->written;
	off_t at = g->size;
	int r = 0;

	for (size_t i = 0; i < count && r >= 0; i++) {
		const struct spool_piece *p = &pieces[i];
		struct record record = {
			.kind = RECORD_ENTRY, .first = i == 0, .last = i + 1 == count,
			.sequence = end.sequence + 1, .window = window, .time_ns = now, .samples = p->samples,
			.runs = p->runs, .owner = s->instance, .samples_before = end.samples, .runs_before = end.runs,
		};
		uint8_t header[RECORD_HEADER];

		record_seal(&record, p->body, p->size, header);
		r = record_write(g->fd, at, header, sizeof(header));
		if (r >= 0)
			r = record_write(g->fd, at + (off_t)RECORD_HEADER, p->body, p->size);
		at += (off_t)(RECORD_HEADER + p->size);
		end = mark_after(&record);
	}
	assert(r < 0 || (at == g->size + (off_t)size_of(pieces, count) && end.sequence == s->written.sequence + count));
	if (r >= 0 && fdatasync(g->fd))
		r = -errno;
	return r;
}

/* Removes the remains of a failed write, which would otherwise precede the next record. */
static int clean(struct segment *g)
{
	g->dirty = ftruncate(g->fd, g->size) != 0;
	return g->dirty ? -errno : 0;
}

static void count_appended(struct spool *s, struct segment *g, const struct spool_piece *pieces, size_t count, bool handed)
{
	struct spool_counters *n = s->counters;

	for (size_t i = 0; i < count; i++) {
		g->samples += pieces[i].samples;
		g->runs += pieces[i].runs;
		s->written.samples += pieces[i].samples;
		s->written.runs += pieces[i].runs;
		if (!handed)
			continue;
		n->samples_received += pieces[i].samples;
		n->samples_waiting += pieces[i].samples;
		n->runs_received += pieces[i].runs;
		n->runs_waiting += pieces[i].runs;
	}
	g->records += count;
	s->written.sequence += count;
	g->end = s->written;
	n->records_waiting += count;
	if (!n->oldest_ns)
		n->oldest_ns = clock_wall_ns();
}

static int append(struct spool *s, const struct spool_piece *pieces, size_t count, uint64_t window, bool handed,
		  struct err *err)
{
	uint64_t need = size_of(pieces, count);
	struct segment *g;
	int r;

	assert(lock_is_held(&s->lock));
	r = make_room(s, need, err);
	if (r < 0)
		return r;
	g = last_segment(s);
	r = g->dirty ? clean(g) : 0;
	if (r >= 0)
		r = write_pieces(s, g, pieces, count, window);
	if (r < 0) {
		clean(g);
		return err_set(err, r, "cannot write to the spool '%s': %s", s->directory, strerror(-r));
	}
	g->size += (off_t)need;
	s->counters->bytes += need;
	s->window = window > s->window ? window : s->window;
	count_appended(s, g, pieces, count, handed);
	position_save(s);
	return 0;
}

int spool_append(struct spool *s, const struct spool_piece *pieces, size_t count, uint64_t window, bool handed,
		 struct err *err)
{
	int r;

	lock_take(&s->lock);
	r = count ? append(s, pieces, count, window, handed, err) : 0;
	lock_release(&s->lock);
	return r;
}

uint64_t spool_window(struct spool *s)
{
	uint64_t w;

	lock_take(&s->lock);
	w = s->window;
	lock_release(&s->lock);
	return w;
}

/* --- Reading --- */

static void give_out(struct spool *s, struct segment *g, const struct record *r, struct spool_entry *ret)
{
	assert(!s->flight_count || s->flights[s->flight_count - 1].segment != g ||
	       s->flights[s->flight_count - 1].at < s->read_at);
	GROW(&s->flights, &s->flight_capacity, s->flight_count + 1);
	s->flights[s->flight_count++] = (struct in_flight_entry){
		.segment = g,
		.at = s->read_at,
		.end = mark_after(r),
		.samples = r->samples,
		.runs = r->runs,
		.time_ns = r->time_ns,
	};
	ret->sequence = r->sequence;
	ret->instance = r->owner;
	ret->samples = r->samples;
	ret->runs = r->runs;
	note_oldest(s);
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Drops the entries between the last settled one and this record, whose sums say how many samples and runs they had. */
static void drop_missing(struct spool *s, struct segment *g, const struct record *r)
{
	struct mark before = mark_before(r);

	if (!r->has_sums || !mark_is_within(s->settled, before))
		return;
	drop_damaged(s, g, least(before.samples - s->settled.samples, g->samples - r->samples),
		     least(before.runs - s->settled.runs, g->runs - r->runs),
		     least(before.sequence - s->settled.sequence, g->records - 1));
	settle(s, before);
}

/* Examines the record at the reader's position. Returns 1 if it was returned, 0 if nothing can be returned now,
 * -EAGAIN to try the next place. */
static int step(struct spool *s, struct spool_entry *ret)
{
	struct segment *g = s->segments[s->reading];
	struct record r;
	int found;

	assert(lock_is_held(&s->lock) && s->reading < s->segment_count);
	if (s->read_at >= g->size) {
		if (s->reading + 1 == s->segment_count) {
			if (!s->flight_count)
				drop_unreadable(s, g);
			return 0;
		}
		s->reading++;
		s->read_at = 0;
		remove_finished(s);
		return -EAGAIN;
	}
	found = record_at(g->fd, s->read_at, g->size, &r);
	if (found == 1 && (r.kind != RECORD_ENTRY || r.sequence <= s->settled.sequence)) {
		s->read_at += record_size(&r);
		return -EAGAIN;
	}
	if (found == 1)
		place_record(&r, s->flight_count ? s->flights[s->flight_count - 1].end : s->settled);
	if (found == 1 && !is_plausible(s, g, &r))
		found = 0;
	if (found == 1 && !s->flight_count)
		drop_missing(s, g, &r);
	if (found == 1 && record_body(g->fd, s->read_at, &r, &ret->body) == 0) {
		give_out(s, g, &r, ret);
		s->read_at += record_size(&r);
		return 1;
	}
	/* Damage is skipped once, and a rewind must not return to before it. */
	if (s->flight_count)
		return 0;
	s->counters->records_damaged++;
	log_damage(s);
	if (found == 1) {
		drop_damaged(s, g, r.samples, r.runs, 1);
		settle(s, mark_after(&r));
		s->read_at += record_size(&r);
	} else {
		s->read_at = record_find(g->fd, s->read_at + 1, g->size);
	}
	return -EAGAIN;
}

int spool_next(struct spool *s, struct spool_entry *ret)
{
	int r = -EAGAIN;

	lock_take(&s->lock);
	while (r == -EAGAIN)
		r = s->segment_count ? step(s, ret) : 0;
	lock_release(&s->lock);
	return r;
}

/* --- Results of entries given out --- */

static struct in_flight_entry take_flight(struct spool *s)
{
	struct in_flight_entry f = s->flights[0];

	assert(lock_is_held(&s->lock) && s->flight_count > 0);
	memmove(s->flights, s->flights + 1, --s->flight_count * sizeof(*s->flights));
	if (f.segment) {
		take_from_segment(f.segment, f.samples, f.runs);
		s->counters->records_waiting--;
	}
	return f;
}

static void finish(struct spool *s, const struct in_flight_entry *f)
{
	settle(s, f->end);
	remove_finished(s);
	note_oldest(s);
}

void spool_done(struct spool *s)
{
	struct spool_counters *n = s->counters;
	struct in_flight_entry f;

	lock_take(&s->lock);
	f = take_flight(s);
	n->samples_forwarded += f.samples;
	n->samples_waiting -= f.samples;
	n->runs_forwarded += f.runs;
	n->runs_waiting -= f.runs;
	finish(s, &f);
	lock_release(&s->lock);
}

void spool_deduplicated(struct spool *s)
{
	struct spool_counters *n = s->counters;
	struct in_flight_entry f;

	lock_take(&s->lock);
	f = take_flight(s);
	n->samples_deduplicated += f.samples;
	n->samples_waiting -= f.samples;
	n->runs_deduplicated += f.runs;
	n->runs_waiting -= f.runs;
	finish(s, &f);
	lock_release(&s->lock);
}

void spool_rejected(struct spool *s)
{
	struct in_flight_entry f;

	lock_take(&s->lock);
	f = take_flight(s);
	spool_count_drop(s->counters, SPOOL_DROP_REJECTED, f.samples, f.runs);
	finish(s, &f);
	lock_release(&s->lock);
}

static size_t index_of(const struct spool *s, const struct segment *g)
{
	size_t i = 0;

	while (s->segments[i] != g) {
		i++;
		assert(i < s->segment_count);
	}
	return i;
}

void spool_rewind(struct spool *s)
{
	bool set = false;

	lock_take(&s->lock);
	for (size_t i = 0; i < s->flight_count; i++) {
		const struct in_flight_entry *f = &s->flights[i];

		if (!f->segment)
			spool_count_drop(s->counters, SPOOL_DROP_FULL, f->samples, f->runs);
		if (!f->segment || set)
			continue;
		s->reading = index_of(s, f->segment);
		s->read_at = f->at;
		set = true;
	}
	s->flight_count = 0;
	remove_finished(s);
	assert(s->segment_count ? s->reading < s->segment_count : !s->reading);
	note_oldest(s);
	lock_release(&s->lock);
}

void spool_sync(struct spool *s)
{
	fdatasync(s->position_fd);
}
