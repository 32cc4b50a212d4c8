/* sqlite_store.c: the directory, its lock, and the days that the writer has open. */
#include "sqlite_store.h"
#include "clock.h"
#include "io.h"
#include "log.h"
#include "mem.h"
#include <assert.h>
#include <dirent.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

#define SET_ASIDE_MAX	1000	/* files per day; more would mean a problem that renaming does not cure */

static struct sqlite_store *of(struct store *s)
{
	return (struct sqlite_store *)s;
}

static_assert(offsetof(struct sqlite_store, store) == 0, "a store is cast to its backend");

void sqlite_store_count_error(struct sqlite_store *s)
{
	lock_take(&s->counting);
	s->stats.errors++;
	lock_release(&s->counting);
}

void sqlite_store_note_piece(struct sqlite_store *s, int64_t number)
{
	if (s->store.on_damage)
		s->store.on_damage(s->store.damage_data, day_start_ns(number), NULL);
	else
		sqlite_store_count_error(s);
}

void sqlite_store_suspect(struct sqlite_store *s, int64_t number, const char *why)
{
	bool known;

	if (s->store.on_damage) {
		s->store.on_damage(s->store.damage_data, day_start_ns(number), why);
		return;
	}
	lock_take(&s->counting);
	s->stats.errors++;
	known = map_get(&s->suspects, (uint64_t)number) == 1;
	map_set(&s->suspects, (uint64_t)number, 1);
	lock_release(&s->counting);
	if (!known)
		log_warning("%s; readable data of that day is still shown", why);
}

static void note_damage(struct store *store, int64_t day_ns, const char *why)
{
	int64_t number = day_ns / NS_PER_DAY;

	if (why)
		sqlite_store_suspect(of(store), number, why);
	else
		sqlite_store_note_piece(of(store), number);
}

static int compare_days(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

static void dir_closep(DIR **d)
{
	if (*d)
		closedir(*d);
}

int sqlite_store_days(const struct sqlite_store *s, int64_t **ret, size_t *ret_count, struct err *err)
{
	_cleanup_(dir_closep) DIR *dir = opendir(s->directory);
	_cleanup_(freep) int64_t *days = NULL;
	size_t count = 0, capacity = 0;
	struct dirent *e;

	if (!dir)
		return err_set(err, -errno, "cannot read the directory '%s': %s", s->directory, strerror(errno));
	GROW(&days, &capacity, 1);
	while ((e = readdir(dir))) {
		int64_t number = day_of_name(e->d_name);

		if (number < 0)
			continue;
		GROW(&days, &capacity, count + 1);
		days[count++] = number;
	}
	qsort(days, count, sizeof(*days), compare_days);
	*ret = TAKE_PTR(days);
	*ret_count = count;
	return 0;
}

uint64_t sqlite_store_bytes(const struct sqlite_store *s)
{
	_cleanup_(dir_closep) DIR *dir = opendir(s->directory);
	uint64_t bytes = 0;
	struct dirent *e;

	while (dir && (e = readdir(dir))) {
		struct stat st;

		if (fstatat(dirfd(dir), e->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode))
			bytes += (uint64_t)st.st_size;
	}
	return bytes;
}

/* --- Days that are open for writing --- */

struct day *sqlite_store_open_day(struct sqlite_store *s, int64_t number)
{
	assert(lock_is_held(&s->writer));
	for (size_t i = 0; i < ARRAY_SIZE(s->days); i++)
		if (s->days[i] && s->days[i]->number == number)
			return s->days[i];
	return NULL;
}

void sqlite_store_close_day(struct sqlite_store *s, int64_t number)
{
	assert(lock_is_held(&s->writer));
	for (size_t i = 0; i < ARRAY_SIZE(s->days); i++)
		if (s->days[i] && s->days[i]->number == number)
			s->days[i] = day_close(s->days[i]);
}

/* Returns a free slot, closing the least recently used day if necessary. */
static struct day **free_place(struct sqlite_store *s)
{
	struct day **oldest = &s->days[0];

	assert(lock_is_held(&s->writer));
	for (size_t i = 0; i < ARRAY_SIZE(s->days); i++) {
		if (!s->days[i])
			return &s->days[i];
		if (s->days[i]->used < (*oldest)->used)
			oldest = &s->days[i];
	}
	*oldest = day_close(*oldest);
	return oldest;
}

int sqlite_store_set_file_aside(struct sqlite_store *s, const char *path, const char *why, const char *outcome,
				struct err *err)
{
	_cleanup_(freep) char *log = xasprintf("%s-wal", path), *index = xasprintf("%s-shm", path);
	_cleanup_(freep) char *aside = NULL, *aside_log = NULL;
	struct stat st;
	int rc = 0, held;

	for (unsigned n = 1; n <= SET_ASIDE_MAX; n++) {
		free(aside);
		aside = xasprintf("%s.corrupt-%u", path, n);
		if (access(aside, F_OK) < 0)
			break;
	}
	aside_log = xasprintf("%s-wal", aside);
	held = files_lock_exclusive(&s->files);
	/* The log is removed first: a leftover one would be used for the next file of this name. */
	if (stat(log, &st) == 0 && st.st_size == 0)
		unlink(log);
	if (rename(log, aside_log) < 0 && errno != ENOENT)
		rc = -errno;
	if (rc == 0 && rename(path, aside) < 0 && errno != ENOENT)
		rc = -errno;
	if (rc == 0)
		unlink(index);
	files_lock_release(&s->files, held);
	sqlite_store_count_error(s);
	if (rc < 0)
		return err_set(err, rc, "cannot set the damaged file '%s' aside: %s", path, strerror(-rc));
	log_warning("%s; it was set aside as '%s', and %s in a new file", why, aside, outcome);
	return 0;
}

int sqlite_store_set_aside(struct sqlite_store *s, int64_t number, const char *why, struct err *err)
{
	_cleanup_(freep) char *path = day_path(s->directory, number, "");

	sqlite_store_close_day(s, number);
	return sqlite_store_set_file_aside(s, path, why, "the day continues", err);
}

int sqlite_store_day(struct sqlite_store *s, int64_t number, struct day **ret, struct err *err)
{
	struct day *d = sqlite_store_open_day(s, number);
	struct err why = { 0 };
	int rc;

	assert(s->mode == SQLITE_STORE_WRITE);
	if (d && !day_is_current(d)) {
		log_warning("'%s' was removed or replaced while it was written to; the day continues in a new file",
			    d->path);
		sqlite_store_close_day(s, number);
		d = NULL;
	}
	if (!d) {
		struct day **place = free_place(s);

		rc = day_open(s->directory, number, DAY_WRITE, &d, &why);
		if (rc == -EBADMSG) {
			rc = sqlite_store_set_aside(s, number, why.text, err);
			if (rc < 0)
				return rc;
			rc = day_open(s->directory, number, DAY_WRITE, &d, &why);
		}
		if (rc < 0)
			return err_set(err, rc, "%s", why.text);
		*place = d;
	}
	d->used = ++s->uses;
	*ret = d;
	return 0;
}

/* --- Appending --- */

/* Returns the first day of the batch after `after`, or -1. */
static int64_t next_day(const struct batch *b, int64_t after)
{
	int64_t next = -1;

	for (size_t i = 0; i < b->count; i++) {
		int64_t number = b->entries[i].bucket_ns / NS_PER_DAY;

		if (number > after && (next < 0 || number < next))
			next = number;
	}
	return next;
}

static int append_to_day(struct sqlite_store *s, int64_t number, const struct batch *b, struct day_appended *ret,
			 struct err *err)
{
	struct err why = { 0 };
	struct day *d;
	int rc;

	assert(lock_is_held(&s->writer));
	for (int attempt = 0; ; attempt++) {
		rc = sqlite_store_day(s, number, &d, err);
		if (rc < 0)
			return rc;
		rc = day_append(d, b, ret, &why);
		if (rc >= 0)
			break;
		/* A connection recovers from a full disk; after other errors it is closed. */
		if (rc != -ENOSPC && rc != -EBUSY && rc != -E2BIG && rc != -EFBIG)
			sqlite_store_close_day(s, number);
		if (rc != -EBADMSG || attempt > 0)
			return err_set(err, rc, "%s", why.text);
		rc = sqlite_store_set_aside(s, number, why.text, err);
		if (rc < 0)
			return rc;
	}
	if (rc > 0)
		map_set(&s->settled, (uint64_t)number, 0);
	return rc;
}

static int refuse_mode(const struct sqlite_store *s, struct err *err)
{
	return err_set(err, -EROFS, "the store '%s' was opened for %s only", s->directory,
		       s->mode == SQLITE_STORE_READ ? "reading" : "adding runs");
}

/* Days are committed one after another. When a later one fails, or the machine stops in between, the batch is
 * redelivered, and days that have its id already skip it. */
static int append(struct store *store, const struct batch *b, struct err *err)
{
	struct sqlite_store *s = of(store);
	int64_t started_ns = clock_monotonic_ns(), took_ns;
	struct day_appended added = { 0 };
	uint64_t commits = 0;
	int rc = 0;

	if (s->mode != SQLITE_STORE_WRITE)
		return refuse_mode(s, err);
	lock_take(&s->writer);
	for (int64_t day = next_day(b, -1); day >= 0 && rc >= 0; day = next_day(b, day)) {
		rc = append_to_day(s, day, b, &added, err);
		commits += rc > 0;
	}
	lock_release(&s->writer);
	took_ns = clock_monotonic_ns() - started_ns;

	lock_take(&s->counting);
	s->stats.errors += rc < 0;
	s->stats.commits += commits;
	s->stats.samples_stored += added.samples;
	s->stats.stacks_truncated += added.nodes_cut;
	s->stats.commit_ns_total += (uint64_t)took_ns;
	if ((uint64_t)took_ns > s->stats.commit_ns_max)
		s->stats.commit_ns_max = (uint64_t)took_ns;
	if (rc >= 0 && b->count) {
		s->stats.batches += commits > 0;
		s->stats.deduplicated_batches += commits == 0;
	}
	lock_release(&s->counting);
	return rc < 0 ? rc : 0;
}

/* --- The rest of what a store does --- */

/* Finds the first day with samples, or the last one: nearly always the very first or last file. */
static bool find_extent(const struct sqlite_store *s, const int64_t *days, size_t count, bool last, int64_t *ret_ns)
{
	for (size_t i = 0; i < count; i++) {
		int64_t number = days[last ? count - 1 - i : i];
		struct day *d;
		unsigned first, end;
		bool any;

		if (day_open(s->directory, number, DAY_READ, &d, NULL) < 0)
			continue;
		any = day_extent(d, &first, &end);
		day_close(d);
		if (any) {
			*ret_ns = day_start_ns(number) + (last ? end : first) * BATCH_BUCKET_NS;
			return true;
		}
	}
	return false;
}

bool sqlite_store_extent(const struct sqlite_store *s, int64_t *ret_first_ns, int64_t *ret_last_ns)
{
	_cleanup_(freep) int64_t *days = NULL;
	size_t count = 0;

	*ret_first_ns = *ret_last_ns = 0;
	if (sqlite_store_days(s, &days, &count, NULL) < 0)
		return false;
	return find_extent(s, days, count, false, ret_first_ns) && find_extent(s, days, count, true, ret_last_ns);
}

static void keep_ids(struct store *store, const uint64_t *ids, size_t count)
{
	struct sqlite_store *s = of(store);

	lock_take(&s->writer);
	map_clear(&s->kept_ids);
	for (size_t i = 0; i < count; i++)
		map_set(&s->kept_ids, ids[i], 1);
	lock_release(&s->writer);
}

static int maintain(struct store *store, const struct store_limits *l, int64_t now_ns, struct err *err)
{
	struct sqlite_store *s = of(store);
	struct err second = { 0 };
	int rc, rc2, rc3;

	if (s->mode != SQLITE_STORE_WRITE)
		return refuse_mode(s, err);
	rc = sqlite_compact(s, now_ns, err);
	/* Runs even if compaction failed: removing days may make the room that it needs. */
	rc2 = sqlite_retain(s, l, now_ns, rc < 0 ? &second : err);
	rc3 = sqlite_retain_runs(s, l, now_ns, rc < 0 || rc2 < 0 ? &second : err);
	if (rc < 0 || rc2 < 0 || rc3 < 0)
		sqlite_store_count_error(s);
	return rc < 0 ? rc : rc2 < 0 ? rc2 : rc3;
}

static bool is_low_on_space(struct store *store, const struct store_limits *l)
{
	return sqlite_store_is_short(of(store), l);
}

/* Counts days that a query could not read completely, and of which nothing has been set aside. */
static uint64_t count_suspects(struct sqlite_store *s, const int64_t *days, size_t count, const int64_t *damaged,
			       size_t damaged_count)
{
	uint64_t n = 0;

	lock_take(&s->counting);
	for (size_t i = 0; i < count; i++) {
		bool is_suspect = map_get(&s->suspects, (uint64_t)days[i]) == 1;

		for (size_t k = 0; k < damaged_count && is_suspect; k++)
			is_suspect = damaged[k] != days[i];
		n += is_suspect;
	}
	lock_release(&s->counting);
	return n;
}

static void stats(struct store *store, struct store_stats *ret)
{
	struct sqlite_store *s = of(store);
	_cleanup_(freep) int64_t *days = NULL, *damaged = NULL;
	size_t count = 0;
	int held;

	lock_take(&s->counting);
	*ret = s->stats;
	lock_release(&s->counting);
	held = files_lock_shared(&s->files);
	ret->days_damaged = sqlite_store_damaged(s, &damaged);
	ret->bytes = sqlite_store_bytes(s);
	ret->free_bytes = sqlite_store_free_bytes(s);
	if (sqlite_store_days(s, &days, &count, NULL) >= 0)
		ret->days = count;
	ret->days_damaged += count_suspects(s, days, ret->days, damaged, ret->days_damaged);
	sqlite_store_extent(s, &ret->oldest_ns, &ret->newest_ns);
	runs_file_count(s->directory, &ret->runs, &ret->runs_bytes);
	files_lock_release(&s->files, held);
}

static struct store *sqlite_close(struct store *store)
{
	struct sqlite_store *s = of(store);

	for (size_t i = 0; i < ARRAY_SIZE(s->days); i++)
		day_close(s->days[i]);
	runs_file_close(s->runs);
	map_done(&s->settled);
	map_done(&s->kept_ids);
	map_done(&s->suspects);
	lock_done(&s->writer);
	lock_done(&s->runs_writer);
	lock_done(&s->counting);
	files_lock_done(&s->files);
	fd_closep(&s->lock_fd);
	free(s->directory);
	free(s);
	return NULL;
}

static const struct store_ops sqlite_ops = {
	.scheme = "sqlite",
	.append = append,
	.query = sqlite_query,
	.values = sqlite_values,
	.timeline = sqlite_timeline,
	.labels = sqlite_labels,
	.sums = sqlite_sums,
	.maintain = maintain,
	.keep_ids = keep_ids,
	.is_low_on_space = is_low_on_space,
	.stats = stats,
	.add_runs = sqlite_add_runs,
	.list_runs = sqlite_list_runs,
	.run_sources = sqlite_run_sources,
	.get_run = sqlite_get_run,
	.remove_run = sqlite_remove_run,
	.note_damage = note_damage,
	.close = sqlite_close,
};

/* --- Opening --- */

/* The lock ends with the process, however it ends, so a stale file never blocks a new writer. */
static int take_lock(struct sqlite_store *s, struct err *err)
{
	_cleanup_(freep) char *path = xasprintf("%s/LOCK", s->directory);
	_cleanup_(fd_closep) int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0640);
	char text[32] = "";
	ssize_t n;

	if (fd < 0)
		return err_set(err, -errno, "cannot open '%s': %s", path, strerror(errno));
	if (flock(fd, LOCK_EX | LOCK_NB) < 0) {
		if (errno != EWOULDBLOCK)
			return err_set(err, -errno, "cannot lock '%s': %s", path, strerror(errno));
		n = pread(fd, text, sizeof(text) - 1, 0);
		text[n > 0 ? n : 0] = 0;
		return err_set(err, -EBUSY, "'%s' is in use by another strobe (pid %ld)", s->directory,
			       strtol(text, NULL, 10));
	}
	n = snprintf(text, sizeof(text), "%ld\n", (long)getpid());
	if (ftruncate(fd, 0) < 0 || pwrite(fd, text, (size_t)n, 0) < 0)
		log_warning("cannot write '%s': %s", path, strerror(errno));	/* its content is only for people */
	s->lock_fd = TAKE_FD(fd);
	return 0;
}

/* Returns -EBADMSG with a sentence for a file to be set aside. The newest day may be empty: it may have been created
 * just before the machine stopped. */
static int check_day(const struct sqlite_store *s, int64_t number, bool is_newest, struct err *why)
{
	_cleanup_(freep) char *path = day_path(s->directory, number, "");
	struct stat st;
	struct day *d;
	int rc = day_open(s->directory, number, DAY_READ, &d, why);

	if (rc >= 0)
		day_close(d);
	if (rc == -ENOENT && !is_newest && stat(path, &st) == 0 && st.st_size == 0)
		return err_set(why, -EBADMSG, "'%s' is empty, and its data is lost", path);
	return rc;
}

/* One bad day must not keep the others from being stored and shown. */
static int set_bad_days_aside(struct sqlite_store *s, struct err *err)
{
	_cleanup_(freep) int64_t *days = NULL;
	size_t count;
	int rc = sqlite_store_days(s, &days, &count, err);

	lock_take(&s->writer);
	for (size_t i = 0; rc >= 0 && i < count; i++) {
		struct err why = { 0 }, failed = { 0 };
		int found = check_day(s, days[i], i + 1 == count, &why);

		if (found == -EBADMSG && sqlite_store_set_aside(s, days[i], why.text, &failed) < 0)
			log_warning("%s", failed.text);
		else if (found == -EIO || found == -EACCES)
			sqlite_store_suspect(s, days[i], why.text);
	}
	lock_release(&s->writer);
	return rc;
}

static int open_directory(struct sqlite_store *s, struct err *err)
{
	struct stat st;
	int rc;

	if (s->mode == SQLITE_STORE_READ) {
		if (stat(s->directory, &st) < 0)
			return err_set(err, -errno, "cannot open the store '%s': %s", s->directory, strerror(errno));
		if (!S_ISDIR(st.st_mode))
			return err_set(err, -ENOTDIR, "cannot open the store '%s': it is not a directory",
				       s->directory);
		return 0;
	}
	rc = io_make_dirs(s->directory, 0750, err);
	if (rc < 0 || s->mode == SQLITE_STORE_RUNS)
		return rc;
	rc = take_lock(s, err);
	return rc < 0 ? rc : set_bad_days_aside(s, err);
}

int sqlite_store_open(const char *directory, enum sqlite_store_mode mode, struct store **ret, struct err *err)
{
	struct sqlite_store *s = xcalloc(1, sizeof(*s));
	int rc;

	s->store.ops = &sqlite_ops;
	s->directory = xstrdup(directory);
	s->mode = mode;
	s->lock_fd = -1;
	map_init(&s->settled);
	map_init(&s->kept_ids);
	map_init(&s->suspects);
	lock_init(&s->writer);
	lock_init(&s->runs_writer);
	lock_init(&s->counting);
	files_lock_init(&s->files, directory);
	rc = open_directory(s, err);
	if (rc < 0) {
		sqlite_close(&s->store);
		return rc;
	}
	*ret = &s->store;
	return 0;
}
