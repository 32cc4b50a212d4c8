/* sqlite_retention.c: removes old days as whole files, so that removing is cheap and needs no space. Only if the day
 * being written is too large by itself are its oldest hours evicted. */
#include "clock.h"
#include "log.h"
#include "mem.h"
#include "sqlite_store.h"
#include <assert.h>
#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#define RESERVE_SHARE	4	/* share of the limit, at most */
#define DISK_RESERVE_SHARE	2	/* share of the disk, at most */

/* A file in the directory that belongs to a day: its database, log or index, or a file that was set aside. */
struct piece {
	int64_t day;
	uint64_t bytes;
	char name[300];
};

struct pieces {
	struct piece *items;
	size_t count, capacity;
};

static int compare_pieces(const void *a, const void *b)
{
	const struct piece *x = a, *y = b;

	if (x->day != y->day)
		return x->day < y->day ? -1 : 1;
	return strcmp(x->name, y->name);
}

static int list(const struct sqlite_store *s, struct pieces *ret, struct err *err)
{
	DIR *dir = opendir(s->directory);
	struct dirent *e;

	if (!dir)
		return err_set(err, -errno, "cannot read the directory '%s': %s", s->directory, strerror(errno));
	while ((e = readdir(dir))) {
		bool set_aside;
		int64_t day = day_of_piece(e->d_name, &set_aside);
		struct piece *p;
		struct stat st;

		if (day < 0 || strlen(e->d_name) >= sizeof(p->name) ||
		    fstatat(dirfd(dir), e->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(st.st_mode))
			continue;
		GROW(&ret->items, &ret->capacity, ret->count + 1);
		p = &ret->items[ret->count++];
		p->day = day;
		p->bytes = (uint64_t)st.st_size;
		snprintf(p->name, sizeof(p->name), "%s", e->d_name);
	}
	closedir(dir);
	if (ret->count)
		qsort(ret->items, ret->count, sizeof(*ret->items), compare_pieces);
	return 0;
}

/* Removes all files of one day; `why` is for the log. */
static int remove_day(struct sqlite_store *s, const struct pieces *p, int64_t day, enum store_removal reason, const char *why,
		      struct err *err)
{
	_cleanup_(freep) char *path = day_path(s->directory, day, "");
	int result = 0, held;

	lock_take(&s->writer);
	sqlite_store_close_day(s, day);
	held = files_lock_exclusive(&s->files);
	for (size_t i = 0; i < p->count; i++) {
		_cleanup_(freep) char *piece = xasprintf("%s/%s", s->directory, p->items[i].name);

		if (p->items[i].day == day && unlink(piece) < 0 && errno != ENOENT && result == 0)
			result = err_set(err, -errno, "cannot remove '%s': %s", piece, strerror(errno));
	}
	files_lock_release(&s->files, held);
	map_set(&s->settled, (uint64_t)day, 0);
	lock_release(&s->writer);
	if (result < 0)
		return result;
	lock_take(&s->counting);
	s->stats.days_removed[reason]++;
	lock_release(&s->counting);
	log_info("%s '%s': %s", reason == STORE_REMOVED_AGE ? "expired" : "evicted", path, why);
	return 0;
}

/* Logs a cap that is too low, once until it is met again. */
static void report_cap(struct sqlite_store *s, const struct store_limits *l, uint64_t bytes, uint64_t cap)
{
	if (!s->cap_reported && (!l->max_bytes || cap < l->max_bytes))
		log_warning("the disk of the store '%s' has less than the %llu MB that must stay free, and only "
			    "the newest minute "
			    "is left to remove", s->directory, (unsigned long long)(l->min_free_bytes >> 20));
	else if (!s->cap_reported)
		log_warning("the store '%s' holds %llu MB, above its limit of %llu MB, but the newest minute and what queries "
			    "read stay; raise the limit or sample less", s->directory, (unsigned long long)(bytes >> 20),
			    (unsigned long long)(l->max_bytes >> 20));
	s->cap_reported = true;
}

static bool ask_disk(const struct sqlite_store *s, uint64_t *ret_free, uint64_t *ret_size)
{
	struct statvfs v;

	if (statvfs(s->directory, &v) < 0)
		return false;
	*ret_free = (uint64_t)v.f_bavail * v.f_frsize;
	*ret_size = (uint64_t)v.f_blocks * v.f_frsize;
	return true;
}

uint64_t sqlite_store_free_bytes(const struct sqlite_store *s)
{
	uint64_t available, size;

	return ask_disk(s, &available, &size) ? available : UINT64_MAX;
}

/* The space that must stay free on a disk of this size. */
static uint64_t floor_of(const struct store_limits *l, uint64_t size)
{
	return l->min_free_is_guess && l->min_free_bytes > size / 10 ? size / 10 : l->min_free_bytes;
}

/* Returns the space missing on the disk. */
static uint64_t space_missing(const struct sqlite_store *s, const struct store_limits *l)
{
	uint64_t available, size, wanted;

	if (!l->min_free_bytes || !ask_disk(s, &available, &size))
		return 0;
	wanted = floor_of(l, size);
	return available < wanted ? wanted - available : 0;
}

bool sqlite_store_is_short(const struct sqlite_store *s, const struct store_limits *l)
{
	return space_missing(s, l) > 0;
}

static uint64_t at_most(uint64_t n, uint64_t most)
{
	return n < most ? n : most;
}

/* Lowers the limits by the expected growth until the next maintenance (about as much as since the previous one), so
 * that they hold in between, too. */
static struct store_limits limits_now(const struct sqlite_store *s, const struct store_limits *l, uint64_t bytes)
{
	uint64_t came = s->bytes_before && bytes > s->bytes_before ? bytes - s->bytes_before : 0, available, size;
	struct store_limits aim = *l;

	aim.max_bytes -= at_most(came, l->max_bytes / RESERVE_SHARE);
	assert(aim.max_bytes || !l->max_bytes);		/* 0 would mean no limit */
	if (l->min_free_bytes && ask_disk(s, &available, &size)) {
		aim.min_free_bytes = floor_of(l, size) + at_most(came, size / DISK_RESERVE_SHARE);
		aim.min_free_is_guess = false;
	}
	return aim;
}

/* Returns the size that the store may have now, if it takes `bytes`. */
static uint64_t cap_of(const struct sqlite_store *s, const struct store_limits *l, uint64_t bytes)
{
	uint64_t cap = l->max_bytes ? l->max_bytes : UINT64_MAX, lacking = space_missing(s, l), left;

	if (!lacking)
		return cap;
	left = bytes > lacking ? bytes - lacking : 0;
	return left < cap ? left : cap;
}

static uint64_t bytes_of(const struct pieces *p)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < p->count; i++)
		bytes += p->items[i].bytes;
	return bytes;
}

/* Returns the reason for an eviction at this cap. */
static const char *exceeded_limit(const struct store_limits *l, uint64_t cap)
{
	return cap < l->max_bytes || !l->max_bytes ? "the disk had less free space than --min-free" :
						     "the store exceeded its size limit";
}

/* Removes whole days, oldest first. Days that may still be written to stay. */
static int remove_days(struct sqlite_store *s, const struct pieces *p, const struct store_limits *l, int64_t now_ns, uint64_t cap,
		       struct err *err)
{
	int64_t today = now_ns / NS_PER_DAY, newest = p->items[p->count - 1].day;
	uint64_t bytes = bytes_of(p);
	int rc = 0;

	assert(newest >= p->items[0].day);
	for (size_t i = 0; i < p->count && rc >= 0;) {
		int64_t day = p->items[i].day;
		uint64_t of_day = 0;
		bool old = l->max_age_ns > 0 && day_start_ns(day + 1) <= now_ns - l->max_age_ns;
		bool large = bytes > cap && day != newest;

		assert(!i || p->items[i - 1].day < day);
		for (; i < p->count && p->items[i].day == day; i++)
			of_day += p->items[i].bytes;
		if (day == today || !(old || large))
			continue;
		rc = remove_day(s, p, day, old ? STORE_REMOVED_AGE : STORE_REMOVED_SIZE,
				old ? "older than the limit" : exceeded_limit(l, cap), err);
		assert(bytes >= of_day);
		bytes -= of_day;
	}
	return rc;
}

/* Returns the bytes that the files of one day may take, so that all stay within the cap. The day's log is truncated, so
 * only the log's index counts beside them. */
static uint64_t space_of_day(const struct pieces *p, int64_t day, uint64_t cap)
{
	uint64_t others = 0;

	for (size_t i = 0; i < p->count; i++) {
		bool set_aside, of_day = day_of_piece(p->items[i].name, &set_aside) == day && !set_aside;

		if (!of_day || strstr(p->items[i].name, ".db-shm"))
			others += p->items[i].bytes;
	}
	return cap > others ? cap - others : 0;
}

/* Evicts hours of the remaining days if they still exceed the cap. */
static int evict_hours(struct sqlite_store *s, const struct store_limits *l, struct err *err)
{
	struct sqlite_store_shrunk shrunk = { 0 };
	struct pieces p = { 0 };
	int rc = list(s, &p, err);
	uint64_t before = bytes_of(&p), cap = cap_of(s, l, before), bytes = before;

	for (size_t i = 0; i < p.count && rc >= 0 && bytes > cap; i++) {
		struct pieces now = { 0 };

		if (day_of_name(p.items[i].name) < 0)
			continue;
		rc = list(s, &now, err);
		if (rc >= 0)
			rc = sqlite_store_shrink_day(s, p.items[i].day, space_of_day(&now, p.items[i].day, cap), &shrunk, err);
		free(now.items);
		now = (struct pieces){ 0 };
		if (rc >= 0)
			rc = list(s, &now, err);
		bytes = bytes_of(&now);
		free(now.items);
	}
	free(p.items);
	if (shrunk.hours || shrunk.seconds)
		log_warning("evicted %llu hours of the day being written, and the first %llu seconds of the hour being written: the "
			    "store '%s' held %llu MB and may hold %llu MB; raise --max-bytes, free some of the disk, or sample less",
			    (unsigned long long)shrunk.hours, (unsigned long long)shrunk.seconds, s->directory,
			    (unsigned long long)(before >> 20), (unsigned long long)(cap >> 20));
	return rc < 0 ? rc : 0;
}

int sqlite_retain(struct sqlite_store *s, const struct store_limits *l, int64_t now_ns, struct err *err)
{
	struct store_limits aim;
	struct pieces p = { 0 };
	uint64_t bytes, cap;
	int rc = list(s, &p, err);

	aim = limits_now(s, l, bytes_of(&p));
	if (rc >= 0 && p.count)
		rc = remove_days(s, &p, &aim, now_ns, cap_of(s, &aim, bytes_of(&p)), err);
	free(p.items);
	if (rc >= 0)
		rc = evict_hours(s, &aim, err);
	if (rc < 0)
		return rc;
	p = (struct pieces){ 0 };
	rc = list(s, &p, err);
	bytes = bytes_of(&p);
	s->bytes_before = bytes;
	cap = cap_of(s, l, bytes);
	free(p.items);
	if (rc >= 0 && bytes > cap)
		report_cap(s, l, bytes, cap);
	else
		s->cap_reported = false;
	return rc;
}
