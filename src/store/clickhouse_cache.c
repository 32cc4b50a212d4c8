/* clickhouse_cache.c: hash tables and their entries, each of a fixed size, in one mapping. */
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
#define NODE_SLOTS	(1u << 22)
#define NODES_MAX	(NODE_SLOTS / 8 * 5)
#define TEXT_BYTES	(8u << 20)
#define PROBES		64u			/* slots searched for a name */
#define OLD_NS		(3600 * NS_PER_SECOND)

struct slot {
	uint64_t name;
	_Atomic uint32_t value;			/* from 1; 0: unused */
};

struct frame {
	uint32_t name, name_size, file, file_size, line;	/* offsets in `text` */
};

struct clickhouse_cache {
	pthread_mutex_t lock;			/* held while adding; robust, since its owner may be killed */
	int64_t made_ns;
	struct clickhouse_shard_health health[CLICKHOUSE_SHARDS];
	_Atomic bool full;
	_Atomic uint32_t frame_count;
	struct slot frame_slots[FRAME_SLOTS], stack_slots[STACK_SLOTS];
	struct frame frames[FRAMES_MAX];
	struct cached_node nodes[NODES_MAX];
	char text[TEXT_BYTES];

	/* Valid only while the lock is held. */
	uint32_t stack_count, text_used;
	_Atomic uint32_t node_count;		/* incremented once the node is complete */
	uint32_t node_slots[NODE_SLOTS];	/* 0: free; may be stale after a kill, see find_node() */
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
	atomic_init(&c->node_count, 1);
	return lock_init_shared(&c->lock) ? clickhouse_cache_free(c) : c;
}

/* Does not touch the lock: other processes may hold it. */
struct clickhouse_cache *clickhouse_cache_free(struct clickhouse_cache *c)
{
	if (c)
		munmap(c, sizeof(*c));
	return NULL;
}

struct clickhouse_shard_health *clickhouse_cache_health(struct clickhouse_cache *c)
{
	return c->health;
}

bool clickhouse_cache_is_old(const struct clickhouse_cache *c, int64_t now_ns)
{
	return atomic_load(&c->full) && now_ns - c->made_ns > OLD_NS;
}

/* --- Reading --- */

/* Needs no hashing, since names are hashes. */
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

uint32_t clickhouse_cache_stack(const struct clickhouse_cache *c, uint64_t name)
{
	uint32_t node = c ? find(c->stack_slots, STACK_SLOTS, name) : CLICKHOUSE_NO_NODE;

	assert(node == CLICKHOUSE_NO_NODE || (node > 0 && node < NODES_MAX));
	return node;
}

const struct cached_node *clickhouse_cache_nodes(const struct clickhouse_cache *c)
{
	return c->nodes;
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

	/* Everything that the killed process had published is complete, and the rest is unreachable. */
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

/* Returns the slot for a node: one with its number, a free one, or one left behind by a killed process whose number
 * now belongs to another node. NULL if the table is too full. */
static uint32_t *find_node(struct clickhouse_cache *c, uint32_t count, uint32_t parent, uint32_t frame, uint32_t line)
{
	uint64_t hash = (parent | (uint64_t)frame << 32) * 0x9e3779b97f4a7c15u;

	hash = (hash ^ hash >> 32 ^ line) * 0xff51afd7ed558ccdu;
	for (uint32_t i = 0; i < PROBES; i++) {
		uint32_t *slot = &c->node_slots[((hash >> 32) + i) & (NODE_SLOTS - 1)];
		const struct cached_node *n = &c->nodes[*slot];

		if (!*slot || *slot >= count || (n->parent == parent && n->frame == frame && n->line == line))
			return slot;
	}
	return NULL;
}

static uint32_t add_node(struct clickhouse_cache *c, uint32_t parent, uint32_t frame, uint32_t line, uint32_t plain)
{
	uint32_t number = atomic_load_explicit(&c->node_count, memory_order_relaxed);
	uint32_t *slot = find_node(c, number, parent, frame, line);

	assert(parent < number && number <= NODES_MAX);
	assert(plain == CLICKHOUSE_NO_NODE || plain < number);
	if (slot && *slot && *slot < number)
		return *slot;
	if (number == NODES_MAX)
		atomic_store(&c->full, true);
	if (!slot || number == NODES_MAX)
		return CLICKHOUSE_NO_NODE;
	c->nodes[number] = (struct cached_node){ parent, frame, line, plain == CLICKHOUSE_NO_NODE ? number : plain };
	*slot = number;
	atomic_store_explicit(&c->node_count, number + 1, memory_order_release);
	return number;
}

uint32_t clickhouse_cache_add_node(struct clickhouse_cache *c, uint32_t parent, uint32_t frame, uint32_t line)
{
	uint32_t above = c->nodes[parent].plain, plain;

	if (!line && above == parent)
		return add_node(c, parent, frame, 0, CLICKHOUSE_NO_NODE);
	plain = add_node(c, above, frame, 0, CLICKHOUSE_NO_NODE);
	return plain == CLICKHOUSE_NO_NODE ? plain : add_node(c, parent, frame, line, plain);
}

void clickhouse_cache_add_stack(struct clickhouse_cache *c, uint64_t name, uint32_t node)
{
	struct slot *slot = free_slot(c->stack_slots, STACK_SLOTS, name);

	assert(node > 0 && node < atomic_load_explicit(&c->node_count, memory_order_relaxed));
	if (find(c->stack_slots, STACK_SLOTS, name) != UINT32_MAX)
		return;
	if (c->stack_count == STACKS_MAX) {
		atomic_store(&c->full, true);
	} else if (slot) {
		c->stack_count++;
		publish(slot, name, node);
	}
}
