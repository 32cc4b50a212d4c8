/* bpf_sampler.c: loads and attaches the BPF programs with libbpf. */

#include "bpf_sampler.h"

#include "clock.h"
#include "file_tables.h"
#include "histogram.h"
#include "kernel_features.h"
#include "mem.h"
#include "obstacles.h"
#include "time_namespace.h"

#include <linux/perf_event.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "sampler.skel.h"

#define SWITCHES_PER_SECOND	20000u
#define SKIP_SHIFT_MAX		10u

const bool sampler_is_built = true;

struct sampler {
	struct sampler_bpf *bpf;
	struct sampler_receiver receiver;
	struct ring_buffer *ring;
	struct bpf_link **links;
	size_t link_count, link_capacity;
	unsigned hz;
	bool off_cpu;
	bool has_iterator;		/* an iterator over all threads */
	int tables[2];			/* maps of counts; tables[0] is the current one */
	struct unwind_maps unwind_maps;
	struct file_tables *files;	/* NULL without file I/O */
	struct distribution open_waits;	/* covers waits that had not ended */
	int cpus;
	struct count_key *keys;		/* room for a whole table */
	struct count *counts;
	u64 *per_cpu;			/* room for one counter */
	u64 switches_then;
	int64_t drained_ns;
	unsigned most_skip_shift;
	u64 switch_limit;		/* recorded per second; beyond it, some represent others */
};

/* libbpf reports reasons only by printing; its first line is kept for the error. */
static __thread char libbpf_reason[256];

static int keep_words(enum libbpf_print_level level, const char *format, va_list args)
{
	char text[sizeof(libbpf_reason)];
	size_t n;

	if (level != LIBBPF_WARN)
		return 0;
	vsnprintf(text, sizeof(text), format, args);
	n = strcspn(text, "\n");
	/* The verifier's log is one text of many lines; the first one has the reason. */
	text[n] = 0;
	if (!*libbpf_reason)
		strcpy(libbpf_reason, text);
	return 0;
}

static int cannot_load(int code, struct err *err)
{
	if (code == -EPERM || code == -EACCES)
		return err_set(err, -EPERM, "the kernel does not let this user load BPF programs (%s); remedy: %s", libbpf_reason,
			       obstacle_remedy_capabilities("/proc"));
	if (code == -ENOSYS || code == -EOPNOTSUPP)
		return err_set(err, code, "this kernel has no BPF, or a container's seccomp profile forbids bpf(2)");
	return err_set(err, code, "the kernel did not load the BPF programs: %s (%s)", strerror(-code), libbpf_reason);
}

/* The process ids that a user sees in a container are those of its namespace. */
static u32 pid_namespace(void)
{
	static const u32 first = 0xEFFFFFFCu;		/* PROC_PID_INIT_INO */
	struct stat st;

	return stat("/proc/self/ns/pid", &st) < 0 || st.st_ino == first ? 0 : (u32)st.st_ino;
}

static int take_event(void *data, void *event, size_t size)
{
	struct sampler *s = data;

	s->receiver.event(s->receiver.data, event, size);
	return 0;
}

/* The programs that see every system call, and their tables, are loaded only if requested. */
static void prepare_file_io(struct sampler *s, const struct sampler_options *o)
{
	struct file_io_settings settings = { .other_kinds = o->other_kinds, .distribution = o->distribution };

	file_calls_choose(settings.calls, o->other_kinds);
	memcpy((void *)(uintptr_t)&s->bpf->rodata->file_io, &settings, sizeof(settings));
	bpf_program__set_autoload(s->bpf->progs.file_begin, o->file_io);
	bpf_program__set_autoload(s->bpf->progs.file_end, o->file_io);
	bpf_map__set_autocreate(s->bpf->maps.file_scratches, o->file_io);
	bpf_map__set_autocreate(s->bpf->maps.begun_calls, o->file_io);
	bpf_map__set_autocreate(s->bpf->maps.first_file_counts, o->file_io);
	bpf_map__set_autocreate(s->bpf->maps.second_file_counts, o->file_io);
	bpf_map__set_autocreate(s->bpf->maps.file_counts, o->file_io);
}

static int load_programs(struct sampler *s, const struct sampler_options *o, bool with_iterator, struct err *err)
{
	struct sampler_settings settings = o->settings;
	int r;

	*libbpf_reason = 0;
	libbpf_set_print(keep_words);
	s->bpf = sampler_bpf__open();
	if (!s->bpf)
		return cannot_load(-errno, err);
	settings.period_ns = o->hz ? NS_PER_SECOND / o->hz : 0;
	settings.pid_namespace = pid_namespace();
	settings.boottime_offset_ns = (u64)time_namespace_offsets().boottime_ns;
	settings.has_loop = kernel_feature_probe(KERNEL_BPF_LOOP) == 0;
	settings.has_task_pointer = kernel_feature_probe(KERNEL_TASK_POINTER) == 0;
	settings.has_task_registers = settings.has_task_pointer && kernel_feature_probe(KERNEL_TASK_REGISTERS) == 0;
	*libbpf_reason = 0;		/* drops the probe's output */
	memcpy((void *)(uintptr_t)&s->bpf->rodata->settings, &settings, sizeof(settings));
	bpf_program__set_autoload(s->bpf->progs.on_cpu, o->hz > 0);
	bpf_program__set_autoload(s->bpf->progs.off_cpu, o->off_cpu);
	bpf_program__set_autoload(s->bpf->progs.wake_up, o->off_cpu);
	if (settings.native) {
		bpf_map__set_max_entries(s->bpf->maps.unwind_pages, UNWIND_PAGES);
		bpf_map__set_max_entries(s->bpf->maps.unwind_rules, UNWIND_RULES);
		bpf_map__set_max_entries(s->bpf->maps.unwind_layouts, UNWIND_LAYOUTS);
	}
	prepare_file_io(s, o);
	bpf_program__set_autoload(s->bpf->progs.sleepers, with_iterator);
	s->has_iterator = with_iterator;
	r = sampler_bpf__load(s->bpf);
	return r < 0 ? cannot_load(r, err) : 0;
}

/* Without iterators that support stacks of other threads, everything else still works. */
static int load(struct sampler *s, const struct sampler_options *o, struct err *err)
{
	struct err first = { 0 };
	int r;

	if (!o->off_cpu || kernel_feature_probe(KERNEL_TASK_ITERATOR) < 0)
		return load_programs(s, o, false, err);
	r = load_programs(s, o, true, &first);
	if (r >= 0)
		return r;
	sampler_bpf__destroy(s->bpf);
	return load_programs(s, o, false, err);
}

/* STROBE_SWITCHES_PER_SECOND is for tests, since no test causes that many. */
static u64 switch_limit(void)
{
	const char *text = getenv("STROBE_SWITCHES_PER_SECOND");
	u64 n = text ? strtoull(text, NULL, 10) : 0;

	return n ? n : SWITCHES_PER_SECOND;
}

int sampler_open(struct sampler **ret, const struct sampler_options *o, const struct sampler_receiver *r, struct err *err)
{
	struct sampler *s = xcalloc(1, sizeof(*s));
	int e;

	s->receiver = *r;
	s->hz = o->hz;
	s->off_cpu = o->off_cpu;
	s->switch_limit = switch_limit();
	s->cpus = libbpf_num_possible_cpus();
	if (s->cpus < 1)
		s->cpus = 1;
	s->per_cpu = xcalloc((size_t)s->cpus, sizeof(*s->per_cpu));
	s->keys = xcalloc(COUNT_ENTRIES, sizeof(*s->keys));
	s->counts = xcalloc(COUNT_ENTRIES, sizeof(*s->counts));
	e = load(s, o, err);
	if (e >= 0) {
		s->tables[0] = bpf_map__fd(s->bpf->maps.first_counts);
		s->tables[1] = bpf_map__fd(s->bpf->maps.second_counts);
		s->unwind_maps = (struct unwind_maps){
			bpf_map__fd(s->bpf->maps.unwind_pages), bpf_map__fd(s->bpf->maps.unwind_rules),
			bpf_map__fd(s->bpf->maps.unwind_layouts), bpf_map__fd(s->bpf->maps.unwind_processes),
		};
		if (o->file_io)
			s->files = file_tables_new(bpf_map__fd(s->bpf->maps.file_counts), bpf_map__fd(s->bpf->maps.first_file_counts),
						   bpf_map__fd(s->bpf->maps.second_file_counts));
		s->ring = ring_buffer__new(bpf_map__fd(s->bpf->maps.events), take_event, s, NULL);
		if (!s->ring)
			e = err_set(err, -errno, "cannot map the ring buffer: %s", strerror(errno));
	}
	if (e < 0) {
		sampler_free(s);
		return e;
	}
	*ret = s;
	return 0;
}

struct sampler *sampler_free(struct sampler *s)
{
	if (!s)
		return NULL;
	sampler_stop(s);
	ring_buffer__free(s->ring);
	sampler_bpf__destroy(s->bpf);
	file_tables_free(s->files);
	free(s->links);
	free(s->per_cpu);
	free(s->keys);
	free(s->counts);
	free(s);
	return NULL;
}

static int attach(struct sampler *s, struct bpf_link *link, const char *to, struct err *err)
{
	int code = -errno;

	if (!link)
		return err_set(err, code, "cannot attach to %s: %s", to, strerror(-code));
	GROW(&s->links, &s->link_capacity, s->link_count + 1);
	s->links[s->link_count++] = link;
	return 0;
}

/* One clock per CPU rather than per process: an event of a process only follows one thread and none of its children. */
static int start_clock(struct sampler *s, int cpu, struct err *err)
{
	struct perf_event_attr a = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(a),
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = (u64)NS_PER_SECOND / s->hz,
	};
	struct bpf_link *link;
	int fd = (int)syscall(SYS_perf_event_open, &a, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0 && errno == ENODEV)		/* this CPU is offline */
		return 0;
	if (fd < 0)
		return err_set(err, -errno, "cannot sample CPU %d: %s%s", cpu, strerror(errno), errno == EACCES || errno == EPERM ?
			       "; this requires root or CAP_PERFMON, see kernel.perf_event_paranoid" : "");
	link = bpf_program__attach_perf_event(s->bpf->progs.on_cpu, fd);
	if (!link)
		close(fd);
	return attach(s, link, "the clock", err);
}

int sampler_start(struct sampler *s, struct err *err)
{
	int e = attach(s, bpf_program__attach(s->bpf->progs.exec), "sched_process_exec", err);

	if (e >= 0)
		e = attach(s, bpf_program__attach(s->bpf->progs.fork), "sched_process_fork", err);
	for (int cpu = 0; e >= 0 && s->hz && cpu < s->cpus; cpu++)
		e = start_clock(s, cpu, err);
	if (e >= 0 && s->off_cpu)
		e = attach(s, bpf_program__attach(s->bpf->progs.wake_up), "sched_wakeup", err);
	if (e >= 0 && s->off_cpu)
		e = attach(s, bpf_program__attach(s->bpf->progs.off_cpu), "sched_switch", err);
	if (e >= 0 && s->files)
		e = attach(s, bpf_program__attach(s->bpf->progs.file_begin), "sys_enter", err);
	if (e >= 0 && s->files)
		e = attach(s, bpf_program__attach(s->bpf->progs.file_end), "sys_exit", err);
	s->drained_ns = clock_monotonic_ns();
	return e;
}

void sampler_stop(struct sampler *s)
{
	while (s->link_count)
		bpf_link__destroy(s->links[--s->link_count]);
}

void sampler_set_binary(struct sampler *s, const struct binary_key *key, const struct binary *b)
{
	bpf_map_update_elem(bpf_map__fd(s->bpf->maps.binaries), key, b, BPF_ANY);
}

void sampler_forget_binary(struct sampler *s, const struct binary_key *key)
{
	bpf_map_delete_elem(bpf_map__fd(s->bpf->maps.binary_requests), key);
}

void sampler_add_target(struct sampler *s, u32 pid, u64 start_ticks)
{
	bpf_map_update_elem(bpf_map__fd(s->bpf->maps.targets), &pid, &start_ticks, BPF_ANY);
}

bool sampler_add_wait(struct sampler *s, u32 tid, const struct waiting *w)
{
	return bpf_map_update_elem(bpf_map__fd(s->bpf->maps.waits), &tid, w, BPF_NOEXIST) == 0;
}

void sampler_remove_wait(struct sampler *s, u32 tid, const struct waiting *w)
{
	int fd = bpf_map__fd(s->bpf->maps.waits);
	struct waiting there;

	if (bpf_map_lookup_elem(fd, &tid, &there) == 0 && there.since_ns == w->since_ns)
		bpf_map_delete_elem(fd, &tid);
}

void sampler_set_hosted(struct sampler *s, u32 tgid, const struct hosted_php *php)
{
	bpf_map_update_elem(bpf_map__fd(s->bpf->maps.hosted), &tgid, php, BPF_ANY);
}

bool sampler_sees_all_pids(const struct sampler *s)
{
	return !s->bpf->rodata->settings.pid_namespace;
}

int sampler_add_cgroup(struct sampler *s, int directory, struct err *err)
{
	u32 at = s->bpf->bss->cgroup_count;

	if (at == CGROUPS_MAX)
		return err_set(err, -E2BIG, "at most %u control groups can be selected", CGROUPS_MAX);
	if (bpf_map_update_elem(bpf_map__fd(s->bpf->maps.cgroups), &at, &directory, BPF_ANY) < 0)
		return err_set(err, -errno, "cannot select a control group: %s; only "
					    "cgroup v2 is supported", strerror(errno));
	s->bpf->bss->cgroup_count++;
	return 0;
}

static int walk_sleepers(struct sampler *s, struct err *err)
{
	struct bpf_link *link = bpf_program__attach_iter(s->bpf->progs.sleepers, NULL);
	int fd = link ? bpf_iter_create(bpf_link__fd(link)) : -1;
	char nothing[64];

	if (fd < 0) {
		bpf_link__destroy(link);
		return err_set(err, -ENOTSUP, "cannot find sleeping threads: %s", strerror(errno));
	}
	while (read(fd, nothing, sizeof(nothing)) > 0 || errno == EAGAIN)
		errno = 0;
	close(fd);
	bpf_link__destroy(link);
	ring_buffer__consume(s->ring);
	return 0;
}

/* In a pid namespace, the location of libphp is unknown for a process that has not run yet: a first walk requests it,
 * and its events are answered before the second walk. */
int sampler_find_sleepers(struct sampler *s, struct err *err)
{
	int r = 0;

	if (!s->has_iterator)
		return err_set(err, -ENOTSUP, "this kernel does not report threads that were asleep when the recording began");
	if (!sampler_sees_all_pids(s)) {
		s->bpf->bss->only_ask = true;
		r = walk_sleepers(s, err);
		s->bpf->bss->only_ask = false;
	}
	return r < 0 ? r : walk_sleepers(s, err);
}

const struct unwind_maps *sampler_unwind_maps(const struct sampler *s)
{
	return &s->unwind_maps;
}

int sampler_poll(struct sampler *s, int timeout_ms, struct err *err)
{
	int r = ring_buffer__poll(s->ring, timeout_ms);

	return r >= 0 || r == -EINTR ? r : err_set(err, r, "cannot read the ring buffer: %s", strerror(-r));
}

/* Recording a switch takes microseconds, which would slow down a program with a hundred thousand switches per second. */
static void adapt_share(struct sampler *s)
{
	int64_t now = clock_monotonic_ns(), passed = now - s->drained_ns;
	u64 switches = sampler_counter(s, COUNTER_SWITCHES), rate;
	unsigned shift = 0;

	if (!s->off_cpu || passed < NS_PER_SECOND / 10)
		return;
	rate = (switches - s->switches_then) * NS_PER_SECOND / (u64)passed;
	while (shift < SKIP_SHIFT_MAX && rate >> shift > s->switch_limit)
		shift++;
	s->bpf->bss->skip_shift = shift;
	if (shift > s->most_skip_shift)
		s->most_skip_shift = shift;
	s->switches_then = switches;
	s->drained_ns = now;
}

static int read_table(struct sampler *s, int table, struct err *err)
{
	struct count_key position;
	u32 n = COUNT_ENTRIES;

	if (bpf_map_lookup_and_delete_batch(table, NULL, &position, s->keys, s->counts, &n, NULL) < 0 && errno != ENOENT)
		return err_set(err, -errno, "cannot read the table of counts: %s", strerror(errno));
	for (u32 i = 0; i < n; i++)
		s->receiver.count(s->receiver.data, &s->keys[i], &s->counts[i]);
	return 0;
}

int sampler_drain(struct sampler *s, struct err *err)
{
	int used = s->tables[0], zero = 0, e;

	/* Returns once no program writes to the previous table any longer. */
	if (bpf_map_update_elem(bpf_map__fd(s->bpf->maps.counts), &zero, &s->tables[1], BPF_ANY) < 0)
		return err_set(err, -errno, "cannot change the table of counts: %s", strerror(errno));
	s->tables[0] = s->tables[1];
	s->tables[1] = used;
	if (s->files && (e = file_tables_turn(s->files, err)) < 0)
		return e;
	/* Everything that a count refers to was written to the ring before it. */
	ring_buffer__consume(s->ring);
	adapt_share(s);
	e = read_table(s, used, err);
	return e >= 0 && s->files ? file_tables_take(s->files, s->receiver.data, s->receiver.file_count, err) : e;
}

static void count_interval(struct sampler *s, const struct waiting *w, enum sample_kind kind, u64 from, u64 to)
{
	struct count_key key = w->key;
	struct count c = { w->weight, (to - from) * w->weight };

	key.kind = kind;
	if (to > from)
		s->receiver.count(s->receiver.data, &key, &c);
}

void sampler_drain_waits(struct sampler *s, u64 now)
{
	int fd = bpf_map__fd(s->bpf->maps.waits);
	u32 tid, *last = NULL;
	struct waiting w;

	for (; bpf_map_get_next_key(fd, last, &tid) == 0; last = &tid) {
		if (bpf_map_lookup_elem(fd, &tid, &w) < 0 || now < w.since_ns || now - w.since_ns < s->bpf->rodata->settings.min_ns)
			continue;
		distribution_add(&s->open_waits, now - w.since_ns, w.weight);
		if (w.preempted) {
			count_interval(s, &w, SAMPLE_RUNNABLE, w.since_ns, now);
		} else {
			count_interval(s, &w, SAMPLE_BLOCKED, w.since_ns, w.woken_ns ? w.woken_ns : now);
			if (w.woken_ns)
				count_interval(s, &w, SAMPLE_RUNNABLE, w.woken_ns, now);
		}
	}
}

void sampler_forget_names(struct sampler *s)
{
	s->bpf->data->epoch++;
}

void sampler_each_wait(struct sampler *s, void (*each)(void *data, u32 tid, const struct waiting *w), void *data)
{
	int fd = bpf_map__fd(s->bpf->maps.waits);
	u32 tid, *last = NULL;
	struct waiting w;

	for (; bpf_map_get_next_key(fd, last, &tid) == 0; last = &tid)
		if (bpf_map_lookup_elem(fd, &tid, &w) == 0)
			each(data, tid, &w);
}

void sampler_distribution(const struct sampler *s, struct distribution *ret)
{
	struct distribution *by_cpu = xcalloc((size_t)s->cpus, sizeof(*by_cpu));
	u32 zero = 0;

	*ret = s->open_waits;
	if (bpf_map_lookup_elem(bpf_map__fd(s->bpf->maps.distributions), &zero, by_cpu) == 0)
		for (int i = 0; i < s->cpus; i++)
			distribution_merge(ret, &by_cpu[i]);
	free(by_cpu);
}

u64 sampler_counter(const struct sampler *s, enum counter c)
{
	u32 key = c;
	u64 sum = 0;

	if (bpf_map_lookup_elem(bpf_map__fd(s->bpf->maps.counters), &key, s->per_cpu) < 0)
		return 0;
	for (int i = 0; i < s->cpus; i++)
		sum += s->per_cpu[i];
	return sum;
}

unsigned sampler_switch_share(const struct sampler *s)
{
	return 1u << s->most_skip_shift;
}
