/* attempts.c: remembers, for each address with recent failures, when they are forgiven. */
#include "attempts.h"

#include "log.h"
#include "mem.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <string.h>

#define LOG_EVERY_NS	(60 * NS_PER_SECOND)

struct attempter {
	struct ip ip;
	int64_t forgiven_ns;
};

struct attempts {
	pthread_mutex_t lock;
	struct attempter items[ATTEMPTS_ADDRESSES];
	size_t count;
	int64_t logged_ns;
	uint64_t unlogged;
};

struct attempts *attempts_new(void)
{
	struct attempts *a = xcalloc(1, sizeof(*a));

	pthread_mutex_init(&a->lock, NULL);
	a->logged_ns = INT64_MIN;
	return a;
}

struct attempts *attempts_free(struct attempts *a)
{
	if (!a)
		return NULL;
	pthread_mutex_destroy(&a->lock);
	free(a);
	return NULL;
}

static struct attempter *find(struct attempts *a, const struct ip *ip)
{
	for (size_t i = 0; i < a->count; i++)
		if (memcmp(&a->items[i].ip, ip, sizeof(*ip)) == 0)
			return &a->items[i];
	return NULL;
}

static void remove_expired(struct attempts *a, int64_t now_ns)
{
	for (size_t i = a->count; i-- > 0;)
		if (a->items[i].forgiven_ns <= now_ns)
			a->items[i] = a->items[--a->count];
}

static struct attempter *add(struct attempts *a, const struct ip *ip)
{
	struct attempter *one = &a->items[0];

	if (a->count < ATTEMPTS_ADDRESSES) {
		one = &a->items[a->count++];
	} else {
		for (size_t i = 1; i < a->count; i++)
			if (a->items[i].forgiven_ns < one->forgiven_ns)
				one = &a->items[i];
	}
	one->ip = *ip;
	return one;
}

unsigned attempts_retry_after(struct attempts *a, const struct ip *from, int64_t now_ns)
{
	struct ip sender = ip_of_sender(from);
	const struct attempter *one;
	int64_t left = 0;

	pthread_mutex_lock(&a->lock);
	one = find(a, &sender);
	if (one)
		left = one->forgiven_ns - now_ns - (ATTEMPTS_BURST - 1) * ATTEMPT_COSTS_NS;
	pthread_mutex_unlock(&a->lock);
	return left > 0 ? (unsigned)((left + NS_PER_SECOND - 1) / NS_PER_SECOND) : 0;
}

static void log_it(struct attempts *a, const struct ip *from, int64_t now_ns)
{
	char text[INET6_ADDRSTRLEN];

	a->unlogged++;
	if (a->logged_ns > now_ns - LOG_EVERY_NS)
		return;
	inet_ntop(AF_INET6, from->bytes, text, sizeof(text));
	log_warning("wrong token from %s (wrong tokens since the last such message: %llu)",
		    strncmp(text, "::ffff:", 7) ? text : text + 7, (unsigned long long)a->unlogged);
	a->logged_ns = now_ns;
	a->unlogged = 0;
}

void attempts_record_failure(struct attempts *a, const struct ip *from, int64_t now_ns)
{
	struct ip sender = ip_of_sender(from);
	struct attempter *one;

	pthread_mutex_lock(&a->lock);
	remove_expired(a, now_ns);
	one = find(a, &sender);
	if (!one) {
		one = add(a, &sender);
		one->forgiven_ns = now_ns;
	}
	one->forgiven_ns += ATTEMPT_COSTS_NS;
	log_it(a, from, now_ns);
	pthread_mutex_unlock(&a->lock);
}
