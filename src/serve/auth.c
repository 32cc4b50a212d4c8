/* auth.c: the checks of auth.h, in the same order. */

#include "auth.h"

#include <assert.h>
#include <string.h>

static int refuse(struct buf *why, int status, const char *sentence)
{
	buf_puts(why, sentence);
	return status;
}

/* --- 1. Host --- */

static bool port_fits(const struct address *host, int port)
{
	return host->port == port || (host->port < 0 && port == 80);
}

/* A name without a port matches any port, since the reverse proxy's port is not known here. */
static bool is_allowed_host(const struct auth_rules *a, const struct address *host)
{
	for (size_t i = 0; i < a->allow_host_count; i++) {
		struct address allowed;

		if (address_parse(a->allow_hosts[i], &allowed) == 0 && strcmp(allowed.host, host->host) == 0 &&
		    allowed.bracketed == host->bracketed && (allowed.port < 0 || allowed.port == host->port))
			return true;
	}
	return false;
}

/* A server that listens on all addresses also accepts the address of the connection. It is a number, not a name, so no
 * DNS record can be rebound to it. */
static bool is_local_address(const struct auth_rules *a, const struct auth_request *q, const struct address *host)
{
	return address_is_wildcard(&a->listen) && q->local_address && strcmp(q->local_address, host->host) == 0;
}

static bool host_is_ours(const struct auth_rules *a, const struct auth_request *q)
{
	struct address host;

	if (!q->host || address_parse(q->host, &host) < 0)
		return false;
	if (is_allowed_host(a, &host))
		return true;
	/* No DNS record can be rebound to a loopback address either, and `ssh -L` and container port forwarding
	 * change the port. */
	if (address_is_loopback(&host))
		return true;
	return port_fits(&host, a->listen.port) && (strcmp(host.host, a->listen.host) == 0 || is_local_address(a, q, &host));
}

/* --- 2. Origin and Sec-Fetch-Site --- */

/* A page of this server has the same origin as the host that it sends its requests to. */
static bool origin_is_ours(const struct auth_request *q)
{
	struct address origin, host;
	const char *p = q->origin;

	if (strncmp(p, "http://", 7) == 0)
		p += 7;
	else if (strncmp(p, "https://", 8) == 0)
		p += 8;
	else
		return false;
	if (address_parse(p, &origin) < 0 || address_parse(q->host, &host) < 0)
		return false;
	return strcmp(origin.host, host.host) == 0 && origin.port == host.port && origin.bracketed == host.bracketed;
}

static bool is_top_level_navigation(const struct auth_request *q)
{
	return q->fetch_mode && strcmp(q->fetch_mode, "navigate") == 0 &&
	       q->fetch_dest && strcmp(q->fetch_dest, "document") == 0;
}

static bool is_safe(const struct auth_request *q)
{
	return strcmp(q->method, "GET") == 0 || strcmp(q->method, "HEAD") == 0 || q->reads;
}

/* All browsers since 2020 send the origin with requests that change something. Older ones still call themselves
 * Mozilla. */
static bool is_program(const struct auth_request *q)
{
	const char *agent = q->user_agent ? q->user_agent : "";

	return !q->origin && !q->fetch_site && strncmp(agent, "Mozilla/", 8) && strncmp(agent, "Opera/", 6);
}

static int check_origin(const struct auth_rules *a, const struct auth_request *q, const struct identity *identity, struct buf *why)
{
	bool from_here = q->fetch_site && strcmp(q->fetch_site, "same-origin") == 0;
	bool from_nowhere = !q->fetch_site || strcmp(q->fetch_site, "none") == 0;
	bool from_program = is_program(q) && (q->is_public || q->is_push || !roles_are_set(&a->roles, false));

	if (q->origin && !origin_is_ours(q))
		return refuse(why, 403, "this request comes from a page of another origin, which is not allowed "
					"to read from this server");
	if (!from_here && !from_nowhere && !(q->is_page && is_safe(q) && is_top_level_navigation(q)))
		return refuse(why, 403, "this request comes from a page of another site, which may link here, "
					"but not read or embed this page");
	if (!is_safe(q) && !from_here && !q->origin && identity->by != IDENTITY_TOKEN && !from_program)
		return refuse(why, 403, "a request that changes something must come from this server's own pages or "
			      "carry a token");
	return 0;
}

/* --- Checking a request --- */

int auth_check(const struct auth_rules *a, const struct auth_request *q, const struct identity *identity, struct buf *why)
{
	int status;

	assert(q->method);
	assert(a->listen.port > 0);

	if (!host_is_ours(a, q))
		return refuse(why, 421, "the Host of this request is not a name of this server; "
			      "add the name with --allow-host if it should be");
	status = check_origin(a, q, identity, why);
	if (status)
		return status;
	if (q->is_public)
		return 0;
	if (identity->role == ROLE_NONE)
		return refuse(why, 401, "a token is needed: open /login, or send it as Authorization: Bearer");
	if (identity->role < ROLE_WRITE && !is_safe(q))
		return refuse(why, 403, identity->by == IDENTITY_PROXY ? "this user may only read; --writer "
			"lists the users who may write" : "this token is for reading; writing needs the one of "
							  "--token-file");
	return 0;
}

int auth_check_allow_host(const char *name, struct err *err)
{
	struct address a;

	if (address_parse(name, &a) < 0) {
		err_set(err, -EINVAL, "invalid --allow-host '%s'; use a host name such as strobe.example.org or "
				      "strobe.example.org:8443",
			name);
		return err_about(err, "allow-host", name);
	}
	return 0;
}
