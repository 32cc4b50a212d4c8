/* sessions.c: a table, indexed by the first half of the number and verified by the second. */
#include "sessions.h"

#include "mem.h"

#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <sys/random.h>

#define HALF	(SESSION_ID / 2)

struct session {
	char id[SESSION_ID];
	enum role role;
	int64_t begun_ns, used_ns;
};

struct sessions {
	pthread_mutex_t lock;
	struct session items[SESSIONS_MAX];
	size_t count;
};

struct sessions *sessions_new(void)
{
	struct sessions *s = xcalloc(1, sizeof(*s));

	pthread_mutex_init(&s->lock, NULL);
	return s;
}

struct sessions *sessions_free(struct sessions *s)
{
	if (!s)
		return NULL;
	pthread_mutex_destroy(&s->lock);
	explicit_bzero(s->items, sizeof(s->items));
	free(s);
	return NULL;
}

static bool has_expired(const struct session *s, int64_t now_ns)
{
	return now_ns - s->used_ns >= SESSION_IDLE_NS || now_ns - s->begun_ns >= SESSION_LONGEST_NS;
}

static void drop(struct sessions *s, size_t i)
{
	s->items[i] = s->items[--s->count];
	explicit_bzero(&s->items[s->count], sizeof(s->items[0]));
}

static void make_room(struct sessions *s, int64_t now_ns)
{
	size_t oldest = 0;

	for (size_t i = s->count; i-- > 0;)
		if (has_expired(&s->items[i], now_ns))
			drop(s, i);
	if (s->count < SESSIONS_MAX)
		return;
	for (size_t i = 1; i < s->count; i++)
		if (s->items[i].used_ns < s->items[oldest].used_ns)
			oldest = i;
	drop(s, oldest);
}

int sessions_begin(struct sessions *s, enum role role, int64_t now_ns, char id[SESSION_ID + 1], struct err *err)
{
	uint8_t random[SESSION_ID / 2];
	struct session *one;

	assert(role != ROLE_NONE);
	if (getrandom(random, sizeof(random), 0) != sizeof(random))
		return err_set(err, -EIO, "cannot get random numbers for a session: %s", strerror(errno));
	for (size_t i = 0; i < sizeof(random); i++)
		snprintf(id + 2 * i, 3, "%02x", random[i]);
	pthread_mutex_lock(&s->lock);
	make_room(s, now_ns);
	one = &s->items[s->count++];
	*one = (struct session){ .role = role, .begun_ns = now_ns, .used_ns = now_ns };
	memcpy(one->id, id, SESSION_ID);
	pthread_mutex_unlock(&s->lock);
	return 0;
}

/* Timing may reveal the half used for the lookup, but it is useless without the other half, which is compared in
 * constant time. */
static bool is_it(const struct session *s, const char *id)
{
	unsigned differ = 0;

	if (memcmp(s->id, id, HALF))
		return false;
	for (size_t i = HALF; i < SESSION_ID; i++)
		differ |= (unsigned char)(s->id[i] ^ id[i]);
	return !differ;
}

static size_t find(const struct sessions *s, const char *id, size_t n)
{
	size_t i = 0;

	while (i < s->count && (n != SESSION_ID || !is_it(&s->items[i], id)))
		i++;
	return i;
}

enum role sessions_role(struct sessions *s, const char *id, size_t n, int64_t now_ns)
{
	enum role role = ROLE_NONE;
	size_t i;

	pthread_mutex_lock(&s->lock);
	i = find(s, id, n);
	if (i < s->count && has_expired(&s->items[i], now_ns)) {
		drop(s, i);
	} else if (i < s->count) {
		s->items[i].used_ns = now_ns;
		role = s->items[i].role;
	}
	pthread_mutex_unlock(&s->lock);
	return role;
}

void sessions_end(struct sessions *s, const char *id, size_t n)
{
	size_t i;

	pthread_mutex_lock(&s->lock);
	i = find(s, id, n);
	if (i < s->count)
		drop(s, i);
	pthread_mutex_unlock(&s->lock);
}
