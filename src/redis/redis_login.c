/* redis_login.c: the first commands of a connection, and the meaning of their replies. */
#include "redis_login.h"

#include "redis_address.h"
#include "buf.h"
#include "io.h"
#include "mem.h"
#include "problem.h"
#include "redis_tls.h"

#include <hiredis/hiredis.h>
#include <stdlib.h>
#include <string.h>

static char *copy(const char *s)
{
	return s ? xstrdup(s) : NULL;
}

void redis_login_move(struct redis_login *l, const char *host, unsigned port)
{
	char *own = xstrdup(host);

	free(l->host);
	free(l->where);
	l->host = own;
	l->port = port;
	l->where = address_is_path(host) ? xstrdup(host) :
		   xasprintf(strchr(host, ':') ? "[%s]:%u" : "%s:%u", host, port);
	for (char *p = l->where; *p; p++)
		if (*p < '!' || *p > '~')
			*p = '?';
}

void redis_login_init(struct redis_login *l, const struct redis_url *url, const char *host, unsigned port,
		      const char *name)
{
	*l = (struct redis_login){
		.database = url->database, .user = copy(url->user), .password = copy(url->password),
		.password_file = copy(redis_url_get(url, "password-file")), .name = xstrdup(name ? name : "strobe"),
	};
	redis_tls_options_init(&l->tls, url);
	redis_login_move(l, host ? host : url->host, host ? port : url->port);
}

void redis_login_done(struct redis_login *l)
{
	free(l->host);
	free(l->user);
	free(l->password);
	free(l->password_file);
	free(l->name);
	free(l->where);
	redis_tls_options_done(&l->tls);
	*l = (struct redis_login){ 0 };
}

/* Returns the password from the URL, or else from the file; NULL in `*ret` if there is none. */
static int get_password(const struct redis_login *l, char **ret, struct err *err)
{
	struct buf b;
	int r;

	*ret = copy(l->password);
	if (*ret || !l->password_file)
		return 0;
	buf_init(&b);
	r = io_read_secret(l->password_file, "password", &b, err);
	if (r >= 0)
		*ret = buf_take(&b, NULL);
	buf_done(&b);
	return r;
}

int redis_login_check_files(const struct redis_url *url, struct err *err)
{
	_cleanup_(freep) char *password = NULL;
	struct redis_login l;
	int r;

	redis_login_init(&l, url, NULL, 0, NULL);
	r = get_password(&l, &password, err);
	if (r < 0)
		err_prefix(err, "password-file");
	else if (l.tls.is_wanted)
		r = redis_tls_check_files(&l.tls, err);
	if (password)
		explicit_bzero(password, strlen(password));
	redis_login_done(&l);
	return r < 0 ? r : 0;
}

static int auth_command(const struct redis_login *l, struct redis_login_command *ret, struct err *err)
{
	_cleanup_(freep) char *password = NULL;
	int r = get_password(l, &password, err), n;

	if (r < 0 || !password)
		return r;
	n = l->user ? redisFormatCommand(&ret->bytes, "AUTH %s %s", l->user, password) :
		      redisFormatCommand(&ret->bytes, "AUTH %s", password);
	explicit_bzero(password, strlen(password));
	ret->size = n > 0 ? (size_t)n : 0;
	return n > 0 ? 1 : err_set(err, -ENOMEM, "not enough memory for a command");
}

int redis_login_command(const struct redis_login *l, enum redis_login_step step, struct redis_login_command *ret,
			struct err *err)
{
	int n;

	switch (step) {
	case REDIS_LOGIN_AUTH:
		return auth_command(l, ret, err);
	case REDIS_LOGIN_SELECT:
		if (!l->database)
			return 0;
		n = redisFormatCommand(&ret->bytes, "SELECT %u", l->database);
		break;
	case REDIS_LOGIN_NAME:
		n = redisFormatCommand(&ret->bytes, "CLIENT SETNAME %s", l->name);
		break;
	default:
		n = redisFormatCommand(&ret->bytes, "PING");
	}
	ret->size = n > 0 ? (size_t)n : 0;
	return n > 0 ? 1 : err_set(err, -ENOMEM, "not enough memory for a command");
}

static const char *name_of(enum redis_login_step step)
{
	static const char *const names[REDIS_LOGIN_STEPS] = { "AUTH", "SELECT", "CLIENT SETNAME", "PING" };

	return names[step];
}

int redis_login_check(const struct redis_login *l, enum redis_login_step step, const struct redisReply *reply,
		      struct err *err)
{
	enum redis_problem p = redis_problem(reply);

	/* Harmless: a server without a password refuses one, and a user may not have permission for CLIENT SETNAME
	 * and PING. */
	if (p == REDIS_FINE && reply->type == REDIS_REPLY_STATUS)
		return 0;
	if (step == REDIS_LOGIN_NAME || (step == REDIS_LOGIN_PING && p == REDIS_NOPERM) ||
	    (step == REDIS_LOGIN_AUTH && p == REDIS_OTHER))
		return 0;
	if (step == REDIS_LOGIN_SELECT && p == REDIS_OTHER)
		return err_set(err, -EINVAL, "Redis at %s has no database %u; choose another one in the URL", l->where,
			       l->database);
	return redis_problem_explain(reply, l->where, name_of(step), err);
}

const char *redis_login_hint(const struct redis_login *l)
{
	return l->tls.is_wanted || address_is_path(l->host) ? "or is it still starting up?" :
							      "is it still starting up, or does it require TLS (rediss://)?";
}
