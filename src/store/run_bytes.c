/* run_bytes.c: packs, reads and names runs. */
#include "run_bytes.h"
#include "clock.h"
#include "edges.h"
#include "mem.h"
#include "pack.h"
#include "run_totals.h"
#include "wire_profile.h"
#include <assert.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

/* --- One run as bytes --- */

void run_bytes_done(struct run_bytes *e)
{
	labels_done(&e->view.labels);
	labels_done(&e->rest);
	buf_done(&e->message);
	buf_done(&e->packed);
	buf_done(&e->totals);
	buf_done(&e->label_text);
}

/* Returns the duration by start and end time, else the measured wall time, in nanoseconds. */
static int64_t duration_of(const struct profile *p)
{
	uint32_t wall = profile_find_column(p, "wall_ns");
	int64_t sum;

	if (p->end_ns > p->start_ns && p->start_ns > 0)
		return p->end_ns - p->start_ns;
	sum = wall == UINT32_MAX ? 0 : profile_sum(p, wall);
	return sum > 0 ? sum : 0;
}

static void set_label(struct labels *l, const char *key, const char *value)
{
	labels_set(l, key, strlen(key), value, strlen(value));
}

static bool has_column_of_its_own(const char *key)
{
	return !strcmp(key, "source") || !strcmp(key, "id") || !strcmp(key, "url") || !strcmp(key, "name");
}

int run_bytes_of(struct run_bytes *e, const struct store_new_run *run, int64_t now_ns, struct err *err)
{
	const struct profile *p = run->profile;
	int rc;

	buf_init(&e->message);
	assert(*run->source && *run->id);
	buf_init(&e->packed);
	buf_init(&e->totals);
	buf_init(&e->label_text);
	e->message.limit = PACK_MAX;
	e->duration_ns = duration_of(p);
	assert(e->duration_ns >= 0);
	e->start_ns = p->start_ns > 0 ? p->start_ns : now_ns > e->duration_ns ? now_ns - e->duration_ns : now_ns;
	e->view = *p;
	memset(&e->view.labels, 0, sizeof(e->view.labels));
	labels_copy(&e->view.labels, &p->labels);
	set_label(&e->view.labels, "source", run->source);
	set_label(&e->view.labels, "id", run->id);
	for (size_t i = 0; i < e->view.labels.count; i++)
		if (!has_column_of_its_own(e->view.labels.items[i].key))
			set_label(&e->rest, e->view.labels.items[i].key, e->view.labels.items[i].value);
	labels_put(&e->rest, &e->label_text);
	run_totals_put(p, &e->totals);
	if (p->chart) {
		e->chart = *p->chart;
		e->chart.start_ns = p->start_ns > 0 && p->chart->start_ns > p->start_ns ? p->chart->start_ns - p->start_ns : 0;
		e->view.chart = &e->chart;
	}
	e->view.start_ns = 0;
	e->view.end_ns = e->duration_ns;
	rc = wire_profile_write_run(&e->view, &e->message, err);
	if (rc < 0)
		return rc;
	XXH128_canonicalFromHash(&e->digest, XXH3_128bits(e->message.data, e->message.size));
	pack_put(&e->packed, e->message.data, e->message.size);
	buf_done(&e->message);
	buf_init(&e->message);
	return 0;
}

int64_t run_total_of(const struct profile *p, const char *name)
{
	uint32_t column = profile_find_column(p, name);

	return column == UINT32_MAX ? RUN_TOTAL_MISSING : edges_total(p, column);
}

/* --- Its name --- */

void run_make_id(int64_t now_ns, char ret[STROBE_WIRE_RUN_KEY + 1])
{
	time_t seconds = (time_t)(now_ns / NS_PER_SECOND);
	uint64_t random = 0;
	struct tm tm;

	gmtime_r(&seconds, &tm);
	if (getrandom(&random, 6, GRND_NONBLOCK) != 6)
		random = (uint64_t)clock_monotonic_ns() * 0x9e3779b97f4a7c15u;
	snprintf(ret, STROBE_WIRE_RUN_KEY + 1, "%04d%02d%02d-%02d%02d%02d-%012llx", tm.tm_year + 1900, tm.tm_mon + 1,
		 tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec, (unsigned long long)random & 0xffffffffffffu);
}

int run_take_name(struct store_new_run *run, struct err *err)
{
	const char *source = labels_get(&run->profile->labels, "source"), *id = labels_get(&run->profile->labels, "id");

	source = source && *source ? source : "default";
	if (!strobe_wire_is_run_key(source, strlen(source)) || (id && *id && !strobe_wire_is_run_key(id, strlen(id))))
		return err_set(err, -EINVAL, "'%.80s' is not a valid %s of a run: 1 to %u letters, digits, '.', "
			       "'_' or '-'", strobe_wire_is_run_key(source, strlen(source)) ? id : source,
			       strobe_wire_is_run_key(source, strlen(source)) ? "id" : "source", STROBE_WIRE_RUN_KEY);
	snprintf(run->source, sizeof(run->source), "%s", source);
	snprintf(run->id, sizeof(run->id), "%s", id ? id : "");
	return 0;
}

bool run_is_final(int result)
{
	return result == -EEXIST || result == -EINVAL || result == -E2BIG || result == -EFBIG;
}

/* --- Reading --- */

/* Returns the space for a message of `size` bytes, if all messages of the profile have `whole` bytes. If the profile
 * has edges, the tree gets half; a function of the edges takes as much memory as eight nodes, including the tables
 * built from it, and a pair as much as two. */
static struct wire_capacity capacity_of(const struct store_profile_limits *most, const struct strobe_wire_message *m, size_t size, uint64_t whole)
{
	uint32_t nodes = (uint32_t)((uint64_t)most->nodes * size / whole);

	assert(size > 0 && size <= whole);
	return (struct wire_capacity){ .nodes = m->info.flags & STROBE_WIRE_ESTIMATE ? nodes / 2 : nodes,
				       .edge_nodes = nodes / 32,
				       .edge_pairs = nodes / 8,
				       .calls = nodes,
				       .column = most->column };
}

int run_message_add(struct profile *p, const void *bytes, size_t size, uint64_t whole, const struct store_profile_limits *most)
{
	struct strobe_wire_message m;
	struct wire_capacity capacity;
	int rc;

	if (strobe_wire_parse(bytes, size, &m))
		return -EBADMSG;
	if (most)
		capacity = capacity_of(most, &m, size, whole);
	rc = wire_profile_add_whole(p, &m, most ? &capacity : NULL);
	if (rc < 0)
		return -EBADMSG;
	wire_profile_labels(&m, &p->labels);
	p->period_ns = (int64_t)m.info.period_ns;
	return rc;
}
