/* connection_tls.c: TLS between connecting and the login, with the same deadline as connecting. */
#include "connection_private.h"

void connection_start_tls(struct redis_connection *c)
{
	struct err err;

	c->phase = TLS_HANDSHAKE;
	if (redis_tls_new(&c->login.tls, c->login.host, c->login.where, c->fd, &c->tls, &err) < 0)
		connection_fail(c, false, err.text);
	else
		connection_continue_tls(c);
}

void connection_continue_tls(struct redis_connection *c)
{
	struct err err;
	int r = redis_tls_handshake(c->tls, &err);
	bool wants_write;

	if (r == 0) {
		connection_log_in(c);
		return;
	}
	if (r != -EAGAIN) {
		connection_fail(c, false, err.text);
		return;
	}
	wants_write = redis_tls_wants_write(c->tls);
	if (wants_write == c->wants_write)
		return;
	c->wants_write = wants_write;
	connection_watch(c);
}
