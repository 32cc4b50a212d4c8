/* clickhouse_cache.c: two hash tables and their data, each of a fixed size, in one mapping. */
#include "clickhouse_cache.h"
#include "clock.h"
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

#define STACK_SLOTS	(1u << 18)
#define FRAME_SLOTS	(1u << 17)
#define FRAMES_MAX	(FRAME_SLOTS / 3 * 2)
#define STACKS_MAX	(STACK_SLOTS / 3 * 2)
#define TEXT_BYTES	(8u << 20)
#define CELLS		(8u << 20)		/* 4 bytes each */
#define PROBES		64u			/* slots searched for a name */
#define HEADER		3u			/* cells of a stack before its frames: proof, count */
#define HAS_LINES	0x80000000u
#define OLD_NS		(3600 * NS_PER_SECOND)

struct slot {
	uint64_t name;
	_Atomic uint32_t value;			/* from 1; 0: free, whatever the name is */
};

struct frame {
	uint32_t name, name_size, file, file_size, line;	/* places in `text` */
};

struct clickhouse_cache {
	pthread_mutex_t lock;			/* held while adding; robust, since a process may be killed meanwhile */
	int64_t made_ns;
	_Atomic bool full;
	_Atomic uint32_t frame_count;
	uint32_t stack_count, text_used, cells_used;	/* only while the lock is held */
	struct slot frame_slots[FRAME_SLOTS], stack_slots[STACK_SLOTS];
	struct frame frames[FRAMES_MAX];
	char text[TEXT_BYTES];
	uint32_t cells[CELLS];
};

static int lock_init_shared(pthread_mutex_t *lock)
{
	pthread_mutexattr_t a;
	int r = pthread_mutexattr_init(&a);

	if (r)
		return r;
	r = pthread_mutexattr_setpshared(&a, PTHREAD_PROCESS_SHARED);
	if (!r)
		r = pthread_mutexattr_setrobust(&a, PTHREAD_MUTEX_ROBUST);
	if (!r)
		r = pthread_mutex_init(lock, &a);
	pthread_mutexattr_destroy(&a);
	return r;
}

struct clickhouse_cache *clickhouse_cache_new(void)
{
	struct clickhouse_cache *c = mmap(NULL, sizeof(*c), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (c == MAP_FAILED)
		return NULL;
	c->made_ns = clock_monotonic_ns();
	return lock_init_shared(&c->lock) ? clickhouse_cache_free(c) : c;
}

/* The lock stays as it is: others may hold it. */
struct clickhouse_cache *clickhouse_cache_free(struct clickhouse_cache *c)
{
	if (c)
		munmap(c, sizeof(*c));
	return NULL;
}

bool clickhouse_cache_is_old(const struct clickhouse_cache *c, int64_t now_ns)
{
	return atomic_load(&c->full) && now_ns - c->made_ns > OLD_NS;
}

/* --- Reading --- */

/* Names are hashes already. */
static uint32_t find(const struct slot *slots, uint32_t count, uint64_t name)
{
	for (uint32_t i = 0; i < PROBES; i++) {
		const struct slot *s = &slots[(name + i) & (count - 1)];
		uint32_t value = atomic_load_explicit(&s->value, memory_order_acquire);

		if (!value)
			return UINT32_MAX;
		if (s->name == name)
			return value - 1;
	}
	return UINT32_MAX;
}

bool clickhouse_cache_stack(const struct clickhouse_cache *c, uint64_t name, struct cached_stack *ret)
{
	uint32_t at = c ? find(c->stack_slots, STACK_SLOTS, name) : UINT32_MAX, count;

	if (at == UINT32_MAX)
		return false;
	assert(at <= CELLS - HEADER);
	memcpy(&ret->proof, &c->cells[at], sizeof(ret->proof));
	count = c->cells[at + 2];
	ret->count = count & ~HAS_LINES;
	ret->frames = &c->cells[at + HEADER];
	ret->lines = count & HAS_LINES ? ret->frames + ret->count : NULL;
	assert(ret->count <= CLICKHOUSE_STACK);
	return true;
}

uint32_t clickhouse_cache_find_frame(const struct clickhouse_cache *c, uint64_t name)
{
	return c ? find(c->frame_slots, FRAME_SLOTS, name) : UINT32_MAX;
}

struct cached_frame clickhouse_cache_frame(const struct clickhouse_cache *c, uint32_t number)
{
	const struct frame *f = &c->frames[number];

	assert(number < clickhouse_cache_frames(c));
	return (struct cached_frame){ { c->text + f->name, f->name_size }, { c->text + f->file, f->file_size }, f->line };
}

uint32_t clickhouse_cache_frames(const struct clickhouse_cache *c)
{
	return c ? atomic_load_explicit(&c->frame_count, memory_order_acquire) : 0;
}

/* --- Adding --- */

bool clickhouse_cache_begin(struct clickhouse_cache *c)
{
	int r = c && !atomic_load(&c->full) ? pthread_mutex_trylock(&c->lock) : EBUSY;

	/* All that the other process had published is whole, and what it had not is in nobody's way. */
	if (r == EOWNERDEAD)
		r = pthread_mutex_consistent(&c->lock);
	return !r;
}

void clickhouse_cache_end(struct clickhouse_cache *c)
{
	pthread_mutex_unlock(&c->lock);
}

static struct slot *free_slot(struct slot *slots, uint32_t count, uint64_t name)
{
	for (uint32_t i = 0; i < PROBES; i++) {
		struct slot *s = &slots[(name + i) & (count - 1)];

		if (!atomic_load_explicit(&s->value, memory_order_relaxed))
			return s;
	}
	return NULL;
}

static void publish(struct slot *s, uint64_t name, uint32_t number)
{
	s->name = name;
	atomic_store_explicit(&s->value, number + 1, memory_order_release);
}

static uint32_t put_text(struct clickhouse_cache *c, struct str s)
{
	uint32_t at = c->text_used;

	c->text_used += (uint32_t)s.n;
	memcpy(c->text + at, s.p, s.n);
	return at;
}

uint32_t clickhouse_cache_add_frame(struct clickhouse_cache *c, uint64_t name, const struct cached_frame *f)
{
	uint32_t number = find(c->frame_slots, FRAME_SLOTS, name);
	struct slot *slot = free_slot(c->frame_slots, FRAME_SLOTS, name);
	size_t room = TEXT_BYTES - c->text_used;

	assert(c->text_used <= TEXT_BYTES);
	if (number != UINT32_MAX)
		return number;
	number = atomic_load_explicit(&c->frame_count, memory_order_relaxed);
	if (number == FRAMES_MAX || f->name.n > room || f->file.n > room - f->name.n) {
		atomic_store(&c->full, true);
	} else if (slot) {
		c->frames[number] = (struct frame){ .name_size = (uint32_t)f->name.n, .file_size = (uint32_t)f->file.n, .line = f->line };
		c->frames[number].name = put_text(c, f->name);
		c->frames[number].file = put_text(c, f->file);
		atomic_store_explicit(&c->frame_count, number + 1, memory_order_release);
		publish(slot, name, number);
		return number;
	}
	return UINT32_MAX;
}

void clickhouse_cache_add_stack(struct clickhouse_cache *c, uint64_t name, const struct cached_stack *s)
{
	uint32_t at = c->cells_used, size = HEADER + s->count * (s->lines ? 2 : 1);
	struct slot *slot = free_slot(c->stack_slots, STACK_SLOTS, name);

	assert(s->count > 0 && s->count <= CLICKHOUSE_STACK && at <= CELLS);
	if (find(c->stack_slots, STACK_SLOTS, name) != UINT32_MAX)
		return;
	if (c->stack_count == STACKS_MAX || size > CELLS - at) {
		atomic_store(&c->full, true);
		return;
	}
	if (!slot)
		return;
	c->cells_used += size;
	c->stack_count++;
	memcpy(&c->cells[at], &s->proof, sizeof(s->proof));
	c->cells[at + 2] = s->count | (s->lines ? HAS_LINES : 0);
	memcpy(&c->cells[at + HEADER], s->frames, s->count * sizeof(*s->frames));
	if (s->lines)
		memcpy(&c->cells[at + HEADER + s->count], s->lines, s->count * sizeof(*s->lines));
	publish(slot, name, at);
}
