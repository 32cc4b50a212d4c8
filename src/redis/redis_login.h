/* redis_login.h: the login sequence of both kinds of connections: AUTH, SELECT, CLIENT SETNAME, PING. */
#ifndef REDIS_REDIS_LOGIN_H
#define REDIS_REDIS_LOGIN_H

#include "redis_tls_options.h"
#include "redis_url.h"

struct redisReply;

enum redis_login_step { REDIS_LOGIN_AUTH, REDIS_LOGIN_SELECT, REDIS_LOGIN_NAME, REDIS_LOGIN_PING, REDIS_LOGIN_STEPS };

struct redis_login {
	char *host;
	unsigned port, database;
	char *user, *password, *password_file, *name;	/* NULL: none; never shown */
	char *where;					/* "127.0.0.1:6379" or "/run/redis.sock", for messages */
	struct redis_tls_options tls;			/* TLS starts before the login */
};

/* A command formatted by hiredis; free it with redisFreeCommand. */
struct redis_login_command {
	char *bytes;
	size_t size;
};

/* `host` and `port` replace those of the URL, unless NULL. */
void redis_login_init(struct redis_login *l, const struct redis_url *url, const char *host, unsigned port,
		      const char *name);
void redis_login_done(struct redis_login *l);
void redis_login_move(struct redis_login *l, const char *host, unsigned port);

/* Checks the files that a URL names, which are read again at each login; an error names the parameter and the file. */
int redis_login_check_files(const struct redis_url *url, struct err *err);

/* Makes the command of a step. Returns 0 if this login does not need it, 1 if `*ret` should be sent. Reads the
 * password file. */
int redis_login_command(const struct redis_login *l, enum redis_login_step step, struct redis_login_command *ret,
			struct err *err);

/* Checks whether the login can continue after this reply; if not, returns an error with a sentence. */
int redis_login_check(const struct redis_login *l, enum redis_login_step step, const struct redisReply *reply,
		      struct err *err);

/* Returns possible reasons why a server closed the connection during login: "is it starting, or …?" */
const char *redis_login_hint(const struct redis_login *l);

#endif
