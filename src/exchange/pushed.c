/* pushed.c: finds series by their labels, and writes profiles as messages. */
#include "pushed.h"

#include "mem.h"
#include "wire_profile.h"

#include <assert.h>
#include <string.h>

void pushed_init(struct pushed *p)
{
	*p = (struct pushed){ 0 };
	intern_init(&p->keys);
	buf_init(&p->key);
}

void pushed_done(struct pushed *p)
{
	for (size_t i = 0; i < p->count; i++)
		profile_free(p->items[i].profile);
	free(p->items);
	intern_done(&p->keys);
	buf_done(&p->key);
}

/* --- Series --- */

static void put_key(struct pushed *p, const struct labels *labels, const struct pushed_metadata *f)
{
	buf_reset(&p->key);
	buf_printf(&p->key, "%d %lld %lld ", (int)f->clock, (long long)f->period_ns, (long long)(f->end_ns / BATCH_BUCKET_NS));
	labels_put(labels, &p->key);
}

static struct profile *new_profile(const struct labels *labels, const struct pushed_metadata *f)
{
	struct profile *p = profile_new();

	profile_keep_lines(p, true);
	labels_copy(&p->labels, labels);
	p->period_ns = f->period_ns;
	p->start_ns = f->start_ns;
	p->end_ns = f->end_ns;
	return p;
}

int pushed_series(struct pushed *p, const struct labels *labels, const struct pushed_metadata *f, struct profile **ret,
		  struct err *err)
{
	uint32_t number;
	int r = pushed_node(p, 0, err);

	if (r < 0)
		return r;
	assert(f->period_ns >= 0 && f->start_ns >= 0 && f->start_ns <= f->end_ns);
	put_key(p, labels, f);
	number = intern_add(&p->keys, p->key.data, p->key.size);
	assert(number <= p->count);
	if (number == p->count) {
		if (p->count == PUSHED_SERIES_MAX)
			return err_set(err, -E2BIG, "it exceeds the limit of %u sets of labels and periods of 10 seconds; "
				       "send it in parts", PUSHED_SERIES_MAX);
		GROW(&p->items, &p->capacity, p->count + 1);
		p->items[p->count++] = (struct pushed_series){ new_profile(labels, f), f->clock };
	}
	*ret = p->items[number].profile;
	if (f->start_ns < (*ret)->start_ns)
		(*ret)->start_ns = f->start_ns;
	if (f->end_ns > (*ret)->end_ns)
		(*ret)->end_ns = f->end_ns;
	return 0;
}

int pushed_node(struct pushed *p, size_t name_size, struct err *err)
{
	p->nodes += 1 + name_size / 256;
	if (p->nodes <= PUSHED_NODES_MAX)
		return 0;
	return err_set(err, -E2BIG, "its stacks together exceed the limit of %u frames; send it in parts",
		       PUSHED_NODES_MAX);
}

int pushed_attribute(struct pushed *p, struct err *err)
{
	if (++p->attributes <= PUSHED_ATTRIBUTES_MAX)
		return 0;
	return err_set(err, -E2BIG, "the attributes of its samples, with those of their profiles, exceed the limit of %u; send it in parts",
		       PUSHED_ATTRIBUTES_MAX);
}

int pushed_child(struct pushed *p, struct profile *to, uint32_t *node, const struct profile *from, uint32_t frame, uint32_t line,
		 struct err *err)
{
	struct str name = profile_name(from, frame), file = profile_file(from, frame);
	int r;

	if (name.n > PUSHED_NAME_MAX || file.n > PUSHED_NAME_MAX)
		return err_set(err, -E2BIG, "a function's name or file exceeds the limit of %u bytes", PUSHED_NAME_MAX);
	if ((r = pushed_node(p, name.n + file.n, err)) < 0)
		return r;
	*node = profile_child_at(to, *node, profile_frame(to, name, file, from->frames[frame].line), line);
	return 0;
}

uint32_t pushed_leaf(struct profile *to, uint32_t node)
{
	if (node != PROFILE_ROOT)
		return node;
	return profile_child(to, node, profile_frame(to, (struct str){ "[no stack]", 10 }, (struct str){ "", 0 }, 0));
}

/* --- Labels --- */

static bool is_of_one_sample(const char *key)
{
	static const char *const names[] = {
		"clock", "tenant", "pid", "tid", "process_pid", "process_parent_pid", "thread", "thread_id", "thread_name", "span_id",
		"trace_id", "profile_id",
	};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (!strcmp(key, names[i]))
			return true;
	return false;
}

/* Truncates without cutting a UTF-8 character in two. */
static size_t cut_at(struct str s, size_t most)
{
	size_t n = s.n < most ? s.n : most;

	while (n && n < s.n && ((uint8_t)s.p[n] & 0xc0) == 0x80)
		n--;
	return n;
}

void pushed_label(struct pushed *p, struct labels *l, struct str key, struct str value)
{
	char name[STROBE_WIRE_LABEL_KEY + 1];
	size_t n = 0;

	if (key.n && key.p[0] >= '0' && key.p[0] <= '9')
		name[n++] = '_';
	for (size_t i = 0; i < key.n && n < STROBE_WIRE_LABEL_KEY; i++) {
		char c = key.p[i], lower = (char)(c | 0x20);

		name[n++] = (lower >= 'a' && lower <= 'z') || (c >= '0' && c <= '9') ? c : '_';
	}
	name[n] = 0;
	if (!n || key.n > STROBE_WIRE_LABEL_KEY || !strncmp(name, "__", 2) || is_of_one_sample(name) ||
	    (l->count >= STROBE_WIRE_LABELS - 1 && !labels_get(l, name))) {
		p->labels_left_out++;
		p->ids_dropped += label_is_of_runs(name, n);
		return;
	}
	p->labels_cut += value.n > STROBE_WIRE_LABEL_VALUE;
	labels_set(l, name, n, value.p, cut_at(value, STROBE_WIRE_LABEL_VALUE));
}

/* --- Messages --- */

/* Patches the clock into the header, since the writer of profiles takes it from labels. */
static void set_clock(struct buf *out, size_t at, enum strobe_clock clock)
{
	while (at < out->size) {
		size_t n = strobe_wire_first(out->data + at, out->size - at);

		assert(n > 6);
		out->data[at + 6] = (char)clock;
		at += n;
	}
}

int pushed_write(struct pushed *p, const char *tenant, int64_t now_ns, struct buf *out, struct err *err)
{
	for (size_t i = 0; i < p->count; i++) {
		struct profile *profile = p->items[i].profile;
		size_t at = out->size;
		int r;

		if (tenant)
			labels_set(&profile->labels, "tenant", 6, tenant, strlen(tenant));
		if (!profile->end_ns)
			profile->start_ns = profile->end_ns = now_ns;
		if (profile->node_count == 1)
			continue;
		if ((r = wire_profile_write(profile, out, err)) < 0)
			return r;
		set_clock(out, at, p->items[i].clock);
	}
	return 0;
}

int pushed_check_tenant(const char *tenant, struct err *err)
{
	static const char fine[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789!-_.*'()";
	size_t n = strlen(tenant);

	if (strchr(tenant, '|'))
		return err_set(err, -EINVAL, "X-Scope-OrgID names several tenants; give one");
	if (!n || n > 150 || strspn(tenant, fine) != n || !strcmp(tenant, ".") || !strcmp(tenant, ".."))
		return err_set(err, -EINVAL, "X-Scope-OrgID is not the name of a tenant: 1 to 150 letters, digits or !-_.*'()");
	return 0;
}
