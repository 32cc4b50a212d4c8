/* logs.c: writes a batch into its files. */
#include "logs.h"

#include "io.h"
#include "log.h"
#include "log_files.h"
#include "log_plan.h"
#include "mem.h"
#include "retention.h"
#include "text.h"
#include "undo.h"

#include <assert.h>
#include <pthread.h>
#include <string.h>
#include <sys/stat.h>

#define WRITE_BYTES	((size_t)256 << 10)	/* per write; fits into the cache of a core */
#define SCAN_MINUTES	60u

struct logs {
	struct logs_options options;
	struct log_name names[LOGS_GROUPS];
	char *url;
	struct undo *undo;
	struct log_files files;
	struct log_tags tags;
	uint64_t popped[LOGS_GROUPS];
	struct buf out;
	uint32_t *path;				/* nodes of a stack */
	size_t path_capacity;
	unsigned minutes;			/* since tags were last scanned */

	struct logs_counters counters;
	pthread_mutex_t lock;			/* guards the next two */
	struct err last_error;
	struct logs_options *next;		/* effective from the next batch on; NULL: no change */
};

/* --- One file --- */

struct writer {
	struct logs *logs;
	struct log_file *file;
	uint64_t lines, bytes;
};

static int flush(struct writer *w, struct err *err)
{
	struct buf *out = &w->logs->out;
	int r = log_file_append(w->file, out->data, out->size, err);

	w->bytes += out->size;
	buf_reset(out);
	return r;
}

static int write_lines(struct writer *w, const struct batch *b, const struct log_target *t, struct err *err)
{
	struct buf *out = &w->logs->out;
	int r;

	for (size_t i = 0; i < t->line_count; i++) {
		const struct batch_line *line = &b->lines[t->lines[i]];
		char *to;

		if (out->size && out->size + line->size >= WRITE_BYTES && (r = flush(w, err)) < 0)
			return r;
		to = buf_reserve(out, (size_t)line->size + 1);
		memcpy(to, line->bytes, line->size);
		to[line->size] = '\n';
		buf_wrote(out, (size_t)line->size + 1);
	}
	w->lines += t->line_count;
	return 0;
}

/* Appends "frame;frame;frame" from the root, which itself is not a frame. */
static void put_stack(struct logs *l, const struct profile *p, uint32_t node)
{
	size_t depth = 0;

	for (; node != PROFILE_ROOT; node = p->parents[node]) {
		GROW(&l->path, &l->path_capacity, depth + 1);
		l->path[depth++] = node;
	}
	while (depth--) {
		text_put_folded(&l->out, profile_name(p, p->node_frames[l->path[depth]]));
		if (depth)
			buf_putc(&l->out, ';');
	}
}

static int write_stacks(struct writer *w, const struct profile *p, uint64_t popped, unsigned pop, struct err *err)
{
	uint32_t column = log_plan_column(p);
	struct buf *out = &w->logs->out;
	int r;

	for (uint32_t node = 1; node < p->node_count; node++) {
		int64_t self = p->columns[column].self[node];
		uint64_t n = self > 0 ? log_plan_pop(&popped, pop, (uint64_t)self) : 0;

		if (!n)
			continue;
		if (out->size >= WRITE_BYTES && (r = flush(w, err)) < 0)
			return r;
		put_stack(w->logs, p, node);
		buf_putc(out, ' ');
		buf_put_u64(out, n);
		buf_putc(out, '\n');
		w->lines++;
	}
	return 0;
}

static int write_target(struct logs *l, const struct batch *b, const struct log_target *t, struct err *err)
{
	_cleanup_(freep) char *path = xasprintf("%s/%s", l->options.base, t->path);
	unsigned pop = l->options.groups[t->group].sample_pop;
	struct writer w = { .logs = l };
	int r;

	buf_reset(&l->out);
	r = log_files_get(&l->files, path, &w.file, err);
	if (r >= 0)
		r = write_lines(&w, b, t, err);
	for (size_t i = 0; i < t->stack_count && r >= 0; i++) {
		const struct profile *p = b->entries[t->stacks[i].entry].profile;
		_cleanup_(profile_freep) struct profile *plain = p->node_lines ? profile_without_lines(p) : NULL;

		r = write_stacks(&w, plain ? plain : p, t->stacks[i].popped, pop, err);
	}
	if (r < 0 || (r = flush(&w, err)) < 0)
		return r;
	l->counters.lines += w.lines;
	l->counters.bytes += w.bytes;
	return 0;
}

/* --- Before and after --- */

static int stat_files(struct logs *l, struct log_plan *p, struct err *err)
{
	for (size_t i = 0; i < p->target_count; i++) {
		_cleanup_(freep) char *path = xasprintf("%s/%s", l->options.base, p->targets[i].path);
		struct stat st;

		if (lstat(path, &st) == 0) {
			p->targets[i].inode = st.st_ino;
			p->targets[i].length = (uint64_t)st.st_size;
		} else if (errno != ENOENT && errno != ENOTDIR) {
			return err_set(err, -errno, "cannot stat '%s': %s", path, strerror(errno));
		}
	}
	return 0;
}

struct written { const struct log_plan *plan; const char *period; };

/* Whether the batch writes to this file. */
static bool is_written_to(void *data, const char *name)
{
	const struct written *w = data;
	size_t n = strlen(w->period);

	for (size_t i = 0; i < w->plan->target_count; i++) {
		const char *path = w->plan->targets[i].path;

		if (!strncmp(path, w->period, n) && path[n] == '/' && !strcmp(path + n + 1, name))
			return true;
	}
	return false;
}

static void add_new_file(struct retention_tag *tags, size_t *count, struct str tag)
{
	for (size_t i = 0; i < *count; i++) {
		if (tags[i].tag.p != tag.p)		/* interned */
			continue;
		tags[i].new_files++;
		return;
	}
	tags[(*count)++] = (struct retention_tag){ tag, 1 };
}

/* Removes old files before new ones are created, which makes room on a full disk. */
static void remove_old(struct logs *l, const struct log_plan *p, uint32_t group)
{
	_cleanup_(freep) struct retention_tag *tags = xcalloc(p->target_count + 1, sizeof(*tags));
	_cleanup_(freep) char *directory = xasprintf("%s/%s", l->options.base, l->options.groups[group].period);
	struct written w = { p, l->options.groups[group].period };
	size_t count = 0;

	for (size_t i = 0; i < p->target_count; i++)
		if (p->targets[i].group == group && !p->targets[i].inode)
			add_new_file(tags, &count, intern_get(&l->tags.names, p->targets[i].tag));
	if (count)
		retention_apply(directory, &l->names[group], l->options.groups[group].retain, tags, count,
				is_written_to, &w, &l->counters.files_removed);
}

static int begin(struct logs *l, const struct log_plan *p, uint64_t id, struct err *err)
{
	_cleanup_(freep) struct undo_file *files = xcalloc(p->target_count + 1, sizeof(*files));

	for (size_t i = 0; i < p->target_count; i++)
		files[i] = (struct undo_file){ p->targets[i].path, p->targets[i].inode, p->targets[i].length };
	return undo_begin(l->undo, id, files, p->target_count, err);
}

static int sync_directory(struct logs *l, const char *period, struct err *err)
{
	_cleanup_(freep) char *path = xasprintf("%s/%s", l->options.base, period);

	struct err why;
	int r;

	do {
		r = io_sync_directory(path, &why);
	} while ((r == -EMFILE || r == -ENFILE) && log_files_close_oldest(&l->files));
	return r < 0 ? err_set(err, r, "%s", why.text) : r;
}

static int sync_all(struct logs *l, const struct log_plan *p, struct err *err)
{
	bool has_new[LOGS_GROUPS] = { false };
	int r = log_files_sync(&l->files, err);

	for (size_t i = 0; i < p->target_count; i++)
		has_new[p->targets[i].group] |= !p->targets[i].inode;
	for (size_t g = 0; g < l->options.group_count && r >= 0; g++)
		if (has_new[g])
			r = sync_directory(l, l->options.groups[g].period, err);
	return r;
}

static int write_plan(struct logs *l, struct log_plan *p, const struct batch *b, struct err *err)
{
	int r = stat_files(l, p, err);

	for (uint32_t g = 0; g < l->options.group_count && r >= 0; g++)
		remove_old(l, p, g);
	if (r < 0 || (r = begin(l, p, b->id, err)) < 0)
		return r;
	for (size_t i = 0; i < p->target_count && r >= 0; i++)
		r = write_target(l, b, &p->targets[i], err);
	if (r < 0 || (r = sync_all(l, p, err)) < 0)
		return r;
	return undo_end(l->undo, err);
}

static void count_plan(struct logs *l, const struct log_plan *p)
{
	memcpy(l->popped, p->popped, sizeof(l->popped));
	l->counters.lines_other += p->lines_other;
	l->counters.batches++;
	for (size_t i = 0; i < p->target_count; i++)
		l->counters.files_made += !p->targets[i].inode;
	l->counters.tags = l->tags.names.count - LOG_TAG_FIRST;
}

/* --- Changing groups at run time --- */

static void free_options(struct logs_options *o)
{
	if (o)
		logs_options_done(o);
	free(o);
}

static bool same_text(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

static bool same_group(const struct logs_group *a, const struct logs_group *b)
{
	return same_text(a->period, b->period) && same_text(a->format, b->format) &&
	       same_text(a->channel, b->channel) && a->retain == b->retain && a->sample_pop == b->sample_pop;
}

static bool same_options(const struct logs_options *a, const struct logs_options *b)
{
	if (!same_text(a->base, b->base) || a->group_count != b->group_count)
		return false;
	for (size_t i = 0; i < a->group_count; i++)
		if (!same_group(&a->groups[i], &b->groups[i]))
			return false;
	return true;
}

/* Applies new options between two batches, in the writing thread. */
static void take_next(struct logs *l)
{
	struct logs_options *next;

	pthread_mutex_lock(&l->lock);
	next = TAKE_PTR(l->next);
	pthread_mutex_unlock(&l->lock);
	if (!next || same_options(next, &l->options)) {
		free_options(next);
		return;
	}
	for (size_t i = 0; i < l->options.group_count; i++)
		log_name_done(&l->names[i]);
	logs_options_done(&l->options);
	l->options = *next;
	free(next);
	for (size_t i = 0; i < l->options.group_count; i++)
		log_name_init(&l->names[i], l->options.groups[i].format, NULL);	/* the format was already checked */
	memset(l->popped, 0, sizeof(l->popped));
	log_tags_scan(&l->tags, &l->options, l->names);
	log_info("%s: reloaded %zu groups", l->url, l->options.group_count);
}

/* --- The sink --- */

static int write_batch(struct logs *l, const struct batch *b, struct err *err)
{
	uint64_t lines = l->counters.lines, bytes = l->counters.bytes;
	struct log_plan p;
	int r = undo_roll_back(l->undo, err);

	if (r < 0)
		return r;
	log_plan_init(&p, &l->options, l->names, &l->tags, b);
	memcpy(p.popped, l->popped, sizeof(p.popped));
	log_plan_make(&p);
	r = p.target_count ? write_plan(l, &p, b, err) : 0;
	if (r >= 0) {
		count_plan(l, &p);
	} else {
		l->counters.lines = lines;
		l->counters.bytes = bytes;
		undo_roll_back(l->undo, NULL);		/* on failure it is retried before the next batch */
	}
	log_plan_done(&p);
	return r;
}

static void note_error(struct logs *l, const struct err *err)
{
	pthread_mutex_lock(&l->lock);
	l->last_error = *err;
	pthread_mutex_unlock(&l->lock);
}

static int commit(void *data, const struct batch *b, struct err *err)
{
	struct err why = { 0 };
	struct logs *l = data;
	int r;

	take_next(l);
	if (undo_knows(l->undo, b->id)) {
		l->counters.batches_deduplicated++;
		return 0;
	}
	r = write_batch(l, b, &why);
	note_error(l, &why);
	l->counters.batches_rolled_back = undo_count(l->undo);
	l->counters.files_open = l->files.open_now;
	if (r >= 0)
		return 0;
	if (err)
		*err = why;
	/* The collector treats these as permanent, but a full disk may have space again later. */
	return r == -EFBIG || r == -E2BIG || r == -EINVAL ? -EIO : r;
}

static void keep_ids(void *data, const uint64_t *ids, size_t count)
{
	struct logs *l = data;

	undo_keep_ids(l->undo, ids, count);
}

static void maintain(void *data)
{
	struct logs *l = data;

	take_next(l);
	log_files_close_idle(&l->files);
	l->counters.files_open = l->files.open_now;
	if (++l->minutes < SCAN_MINUTES)
		return;
	l->minutes = 0;
	log_tags_scan(&l->tags, &l->options, l->names);
	l->counters.tags = l->tags.names.count - LOG_TAG_FIRST;
}

struct collector_sink logs_sink(struct logs *l)
{
	return (struct collector_sink){
		.url = l->url, .commit = commit, .keep_ids = keep_ids, .maintain = maintain, .wants_lines = true, .data = l
	};
}

const struct logs_counters *logs_counters(const struct logs *l)
{
	return &l->counters;
}

bool logs_last_error(struct logs *l, char *text, size_t size)
{
	bool failed;

	pthread_mutex_lock(&l->lock);
	failed = l->last_error.code < 0;
	snprintf(text, size, "%s", l->last_error.text);
	pthread_mutex_unlock(&l->lock);
	return failed;
}

/* --- Options --- */

int logs_group_check(const struct logs_group *g, struct err *err)
{
	struct log_name n;
	int r;

	if (!*g->period || *g->period == '.' || strchr(g->period, '/') || strlen(g->period) > 100)
		return err_set(err, -EINVAL, "the period '%.120s' is not a valid directory name; use one such as hourly",
			       g->period);
	for (const char *p = g->period; *p; p++)
		if ((unsigned char)*p < ' ' || *p == 127)
			return err_set(err, -EINVAL, "a period contains a control character; use a "
						     "name such as hourly");
	r = log_name_init(&n, g->format, err);
	log_name_done(&n);
	return r < 0 ? err_prefix(err, "the format '%.120s' cannot be used", g->format) : 0;
}

static void add_group(struct logs_options *o, const char *period, const char *format, unsigned retain)
{
	o->groups[o->group_count++] = (struct logs_group){ xstrdup(period), xstrdup(format), NULL, retain, 1 };
}

int logs_options_from_url(const char *url, struct logs_options *ret, struct err *err)
{
	const char *path = url + strlen("logs:");
	size_t n;

	*ret = (struct logs_options){ 0 };
	if (strncmp(url, "logs:", strlen("logs:")) || !*path || strchr(path, '?'))
		return err_set(err, -EINVAL, "'%s' names no directory for trace logs; write logs:/srv/arclamp/logs",
			       url);
	for (n = strlen(path); n > 1 && path[n - 1] == '/'; n--)
		;
	ret->base = xstrndup(path, n);
	ret->groups = xcalloc(2, sizeof(*ret->groups));
	add_group(ret, "hourly", "%Y-%m-%d_%H", 336);
	add_group(ret, "daily", "%Y-%m-%d", 90);
	return 0;
}

void logs_options_done(struct logs_options *o)
{
	for (size_t i = 0; i < o->group_count; i++) {
		free(o->groups[i].period);
		free(o->groups[i].format);
		free(o->groups[i].channel);
	}
	free(o->groups);
	free(o->base);
	*o = (struct logs_options){ 0 };
}

static void copy_options(const struct logs_options *from, struct logs_options *to)
{
	to->base = xstrdup(from->base);
	to->group_count = from->group_count;
	to->groups = xcalloc(from->group_count, sizeof(*to->groups));
	for (size_t i = 0; i < from->group_count; i++) {
		const struct logs_group *g = &from->groups[i];

		to->groups[i] = (struct logs_group){ xstrdup(g->period), xstrdup(g->format),
			g->channel ? xstrdup(g->channel) : NULL, g->retain, g->sample_pop };
	}
}

/* --- Lifecycle --- */

/* Compares formats after expansion: "%F" is "%Y-%m-%d". */
static bool same_files(const struct logs_group *a, const struct log_name *a_name, const struct logs_group *b,
		       const struct log_name *b_name)
{
	return !strcmp(a->period, b->period) && !strcmp(a_name->format, b_name->format) &&
		(!a->channel || !b->channel || !strcmp(a->channel, b->channel));
}

static int check_options(const struct logs_options *o, struct err *err)
{
	int r;

	if (!o->group_count || o->group_count > LOGS_GROUPS)
		return err_set(err, -EINVAL, "%zu groups of trace logs are configured; give 1 to %u", o->group_count,
			       LOGS_GROUPS);
	for (size_t i = 0; i < o->group_count; i++)
		if ((r = logs_group_check(&o->groups[i], err)) < 0)
			return r;
	return 0;
}

/* The caller frees the names, also after an error. */
static int make_names(const struct logs_options *o, struct log_name *names, struct err *err)
{
	const struct logs_group *g = o->groups;
	int r = 0;

	for (size_t i = 0; i < o->group_count && r >= 0; i++) {
		r = log_name_init(&names[i], g[i].format, err);
		for (size_t k = 0; k < i && r >= 0; k++)
			if (same_files(&g[i], &names[i], &g[k], &names[k]))
				r = err_set(err, -EINVAL, "two groups of trace logs write '%s/%s'; each line would "
					    "be written twice; remove one of them", g[i].period, g[i].format);
	}
	return r;
}

static int check_names(const struct logs_options *o, struct err *err)
{
	struct log_name names[LOGS_GROUPS] = { 0 };
	int r = make_names(o, names, err);

	for (size_t i = 0; i < LOGS_GROUPS; i++)
		log_name_done(&names[i]);
	return r;
}

static int make_directories(const struct logs_options *o, struct err *err)
{
	int r = 0;

	for (size_t i = 0; i < o->group_count && r >= 0; i++) {
		_cleanup_(freep) char *directory = xasprintf("%s/%s", o->base, o->groups[i].period);

		r = io_make_dirs(directory, 0755, err);
	}
	return r;
}

static int start(struct logs *l, struct err *err)
{
	int r = make_names(&l->options, l->names, err);

	if (r < 0 || (r = undo_open(l->options.base, &l->undo, err)) < 0 ||
	    (r = make_directories(&l->options, err)) < 0)
		return r;
	log_tags_scan(&l->tags, &l->options, l->names);
	l->counters.tags = l->tags.names.count - LOG_TAG_FIRST;
	l->counters.batches_rolled_back = undo_count(l->undo);
	return 0;
}

int logs_open(const struct logs_options *o, struct logs **ret, struct err *err)
{
	struct logs *l;
	int r = check_options(o, err);

	if (r < 0)
		return r;
	l = xcalloc(1, sizeof(*l));
	copy_options(o, &l->options);
	l->url = xasprintf("logs:%s", o->base);
	log_files_init(&l->files);
	log_tags_init(&l->tags);
	buf_init(&l->out);
	pthread_mutex_init(&l->lock, NULL);
	r = start(l, err);
	if (r < 0) {
		logs_close(l);
		return r;
	}
	*ret = l;
	return 0;
}

int logs_change(struct logs *l, const struct logs_options *o, struct err *err)
{
	struct logs_options *next, *before;
	int r = check_options(o, err);

	if (r < 0 || (r = check_names(o, err)) < 0 || (r = make_directories(o, err)) < 0)
		return r;
	next = xcalloc(1, sizeof(*next));
	copy_options(o, next);
	pthread_mutex_lock(&l->lock);
	before = l->next;
	l->next = next;
	pthread_mutex_unlock(&l->lock);
	free_options(before);
	return 0;
}

struct logs *logs_close(struct logs *l)
{
	if (!l)
		return NULL;
	log_files_done(&l->files);
	undo_close(l->undo);
	log_tags_done(&l->tags);
	for (size_t i = 0; i < LOGS_GROUPS; i++)
		log_name_done(&l->names[i]);
	buf_done(&l->out);
	pthread_mutex_destroy(&l->lock);
	logs_options_done(&l->options);
	free_options(l->next);
	free(l->path);
	free(l->url);
	free(l);
	return NULL;
}
