/* settings.c: what holds without options, and what cannot be. */

#include "settings.h"

#include "clock.h"
#include "io.h"
#include "log.h"

#include <ctype.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#define TOKEN_FILE_MAX	4096
#define RETAIN_DAYS_MAX	36500
#define QUEUE_MIN	((uint64_t)1 << 20)
#define COUNT_MAX	1000000

struct settings settings;

void settings_reset(void)
{
	free(settings.from.items);
	free(settings.to.items);
	free(settings.allow_hosts.items);
	settings = (struct settings){
		.max_bytes = "10G", .runs_size = "2G", .queue_bytes = "256M",
		.retain_days = 30, .runs_days = 30,
		.runs_count = 10000, .label_values = 1000, .series = 10000,
	};
}

int settings_parse_size(const char *text, uint64_t *ret, struct err *err)
{
	static const char units[] = "KMGT";
	const char *unit;
	char *end;
	double v = strtod(text, &end);
	int shift = 0;

	while (*end == ' ')
		end++;
	unit = *end ? strchr(units, toupper((unsigned char)*end)) : NULL;
	if (unit) {
		shift = 10 * (int)(unit - units + 1);
		end += 1 + (end[1] == 'i' || end[1] == 'I');
	}
	if (*end == 'B' || *end == 'b')
		end++;
	v *= (double)((uint64_t)1 << shift);
	if (end == text || *end || !(v >= 0 && v < 1e18))
		return err_set(err, -EINVAL, "'%s' is no size; write 500M, 10G or a number of bytes", text);
	*ret = (uint64_t)v;
	return 0;
}

static int size_of(const char *option, const char *text, uint64_t *ret, struct err *err)
{
	struct err why = { 0 };

	return settings_parse_size(text, ret, &why) < 0 ? err_set(err, -EINVAL, "--%s: %s", option, why.text) : 0;
}

static int check_days(const char *option, double days, int64_t *ret_ns, struct err *err)
{
	if (!(days >= 0 && days <= RETAIN_DAYS_MAX))
		return err_set(err, -EINVAL, "--%s takes 0 to %d days", option, RETAIN_DAYS_MAX);
	*ret_ns = (int64_t)(days * (double)NS_PER_DAY);
	return 0;
}

static int check_count(const char *option, long n, unsigned *ret, struct err *err)
{
	if (n < 1 || n > COUNT_MAX)
		return err_set(err, -EINVAL, "--%s takes 1 to %d", option, COUNT_MAX);
	*ret = (unsigned)n;
	return 0;
}

int settings_check(struct daemon_options *o, struct err *err)
{
	const struct settings *s = &settings;
	int r;

	if ((r = check_days("retain", s->retain_days, &o->limits.max_age_ns, err)) < 0 ||
	    (r = size_of("max-bytes", s->max_bytes, &o->limits.max_bytes, err)) < 0 ||
	    (r = check_days("runs-age", s->runs_days, &o->limits.runs_max_age_ns, err)) < 0)
		return r;
	if (s->runs_count < 0)
		return err_set(err, -EINVAL, "--runs-count must not be negative");
	o->limits.runs_max_count = (uint64_t)s->runs_count;
	if ((r = size_of("runs-size", s->runs_size, &o->limits.runs_max_bytes, err)) < 0 ||
	    (r = size_of("queue-bytes", s->queue_bytes, &o->queue_bytes, err)) < 0 ||
	    (r = check_count("label-values", s->label_values, &o->label_values, err)) < 0 ||
	    (r = check_count("series", s->series, &o->series, err)) < 0)
		return r;
	if (o->queue_bytes < QUEUE_MIN)
		return err_set(err, -EINVAL, "--queue-bytes must be 1M at least");
	o->listen = s->listen;
	o->sources = s->from.items;
	o->source_count = s->from.count;
	o->sinks = s->to.items;
	o->sink_count = s->to.count;
	o->state = s->state;
	o->allow_hosts = s->allow_hosts.items;
	o->allow_host_count = s->allow_hosts.count;
	return 0;
}

int settings_token(struct daemon_options *o, struct buf *token, struct err *err)
{
	const char *path = settings.token_file;
	struct stat st;
	int r;

	if (!path)
		return 0;
	if ((r = io_read_file(path, token, TOKEN_FILE_MAX, err)) < 0)
		return r;
	while (token->size && isspace((unsigned char)token->data[token->size - 1]))
		token->data[--token->size] = '\0';
	if (token->size == 0 || strlen(token->data) != token->size)
		return err_set(err, -EINVAL, "'%s' holds no token; make one with: openssl rand -hex 32 > %s", path, path);
	if (stat(path, &st) == 0 && (st.st_mode & 077))
		log_warning("other users may read the token in '%s'; chmod 600 keeps it secret", path);
	o->token = token->data;
	return 0;
}
