/* roles.c: checks tokens, sessions and users of proxies, in the order of roles.h. */
#include "roles.h"

#include "mem.h"

#include <string.h>
#include <strings.h>

/* --- Tokens --- */

static bool is_token(const char *ours, const char *token, size_t n)
{
	size_t want;
	unsigned differ;

	if (!ours)
		return false;
	want = strlen(ours);
	differ = n != want;
	for (size_t i = 0; i < n; i++)
		differ |= (unsigned char)token[i] ^ (unsigned char)ours[i % want];
	return differ == 0;
}

enum role roles_of_token(const struct roles *r, const char *token, size_t n)
{
	bool writes = is_token(r->options.token, token, n), reads = is_token(r->options.read_token, token, n);

	return writes ? ROLE_WRITE : reads ? ROLE_READ : ROLE_NONE;
}

static int digit_of(char c)
{
	return c >= 'A' && c <= 'Z' ? c - 'A' : c >= 'a' && c <= 'z' ? c - 'a' + 26 : c >= '0' && c <= '9' ? c - '0' + 52 :
	       c == '+' ? 62 : c == '/' ? 63 : -1;
}

/* Returns the password of base64 "user:password"; "" if there is none. */
static const char *password_in(const char *base64, char ret[2 * ROLES_TOKEN_MAX])
{
	uint32_t bits = 0;
	unsigned have = 0;
	size_t n = 0;
	char *colon;

	for (; digit_of(*base64) >= 0 && n < 2 * ROLES_TOKEN_MAX - 1; base64++) {
		bits = bits << 6 | (uint32_t)digit_of(*base64);
		have += 6;
		if (have >= 8) {
			have -= 8;
			ret[n++] = (char)(bits >> have);
		}
	}
	ret[n] = '\0';
	colon = strchr(ret, ':');
	return colon && !base64[strspn(base64, "=")] ? colon + 1 : "";
}

static enum role role_of_password(const struct roles *r, const struct roles_request *q, bool *ret_wrong)
{
	char room[2 * ROLES_TOKEN_MAX];
	const char *password = password_in(q->authorization + 6 + strspn(q->authorization + 6, " "), room);
	enum role role = roles_of_token(r, password, strlen(password));

	*ret_wrong = role == ROLE_NONE && (r->options.token || r->options.read_token);
	return role;
}

static enum role role_of_bearer(const struct roles *r, const struct roles_request *q, bool *ret_wrong)
{
	const char *authorization = q->authorization;
	enum role role;

	if (authorization && q->takes_basic && strncasecmp(authorization, "Basic ", 6) == 0)
		return role_of_password(r, q, ret_wrong);
	if (!authorization || strncasecmp(authorization, "Bearer ", 7) != 0)
		return ROLE_NONE;
	authorization += 7;
	authorization += strspn(authorization, " ");
	role = roles_of_token(r, authorization, strlen(authorization));
	if (q->is_probe && is_token(r->options.probe_token, authorization, strlen(authorization)) && role == ROLE_NONE)
		role = ROLE_READ;
	*ret_wrong = role == ROLE_NONE && (r->options.token || r->options.read_token || r->options.probe_token);
	return role;
}

/* --- Sessions --- */

const char *roles_session_in(const char *cookie, size_t *ret_n)
{
	const size_t n = strlen(ROLES_COOKIE);

	while (cookie && *cookie) {
		cookie += strspn(cookie, " ;");
		if (strncmp(cookie, ROLES_COOKIE, n) == 0 && cookie[n] == '=') {
			*ret_n = strcspn(cookie + n + 1, ";");
			return cookie + n + 1;
		}
		cookie += strcspn(cookie, ";");
	}
	return NULL;
}

static enum role role_of_session(const struct roles *r, const char *cookie)
{
	size_t n = 0;
	const char *id = roles_session_in(cookie, &n);

	return id && r->sessions ? sessions_role(r->sessions, id, n, clock_monotonic_ns()) : ROLE_NONE;
}

/* --- Proxies --- */

static bool is_proxy(const struct roles *r, const struct ip *ip)
{
	return networks_contain(r->proxies, r->options.proxy_count, ip);
}

static bool comes_from_proxy(const struct roles *r, const struct roles_request *q)
{
	struct ip peer;

	return q->peer && ip_parse(q->peer, strlen(q->peer), &peer) && is_proxy(r, &peer);
}

/* Each proxy appends the address of its client, so read from the right, addresses are trustworthy up to the first that
 * is not one of our proxies; the rest may be forged. */
static struct ip address_of(const struct roles *r, const struct roles_request *q)
{
	struct ip ip = { 0 }, next;
	const char *list = q->forwarded_for, *end = list ? list + strlen(list) : NULL;

	if (!q->peer || !ip_parse(q->peer, strlen(q->peer), &ip))
		return ip;
	while (end && end > list && is_proxy(r, &ip)) {
		const char *comma = memrchr(list, ',', (size_t)(end - list)), *begin = comma ? comma + 1 : list;
		const char *word = begin + strspn(begin, " \t");
		size_t n = strcspn(word, ", \t");

		if (!ip_parse(word, n, &next))
			break;
		ip = next;
		end = comma;
	}
	return ip;
}

static bool is_name(const char *user)
{
	for (const char *p = user; *p; p++)
		if ((unsigned char)*p < ' ' || *p == 0x7f)
			return false;
	return *user && strlen(user) <= ROLES_USER_MAX;
}

static bool is_writer(const struct roles *r, const char *user)
{
	for (size_t i = 0; i < r->options.writer_count; i++)
		if (strcmp(r->options.writers[i], "*") == 0 || strcmp(r->options.writers[i], user) == 0)
			return true;
	return false;
}

bool roles_is_tls(const struct roles_request *q)
{
	return (q->origin && strncmp(q->origin, "https://", 8) == 0) ||
	       (q->forwarded_proto && strcasecmp(q->forwarded_proto, "https") == 0);
}

/* --- Roles --- */

bool roles_are_set(const struct roles *r, bool only_probes)
{
	return r->options.token || r->options.read_token || r->options.proxy_count || (only_probes && r->options.probe_token);
}

static struct identity identified_by(struct identity identity, int by, enum role role)
{
	identity.by = by;
	identity.role = role;
	return identity;
}

struct identity roles_identify(const struct roles *r, const struct roles_request *q)
{
	struct identity identity = { .address = address_of(r, q) };
	enum role role;

	if (!roles_are_set(r, q->only_probes))
		return identified_by(identity, IDENTITY_ANONYMOUS, ROLE_WRITE);
	role = role_of_bearer(r, q, &identity.wrong_token);
	if (role)
		return identified_by(identity, IDENTITY_TOKEN, role);
	role = role_of_session(r, q->cookie);
	if (role)
		return identified_by(identity, IDENTITY_SESSION, role);
	if (q->user && is_name(q->user) && comes_from_proxy(r, q)) {
		snprintf(identity.user, sizeof(identity.user), "%s", q->user);
		return identified_by(identity, IDENTITY_PROXY, is_writer(r, q->user) ? ROLE_WRITE : ROLE_READ);
	}
	return identity;
}

/* --- Lifecycle --- */

int roles_check_token(const char *token, struct err *err)
{
	size_t n = strlen(token);

	if (n < ROLES_TOKEN_MIN || n > ROLES_TOKEN_MAX)
		return err_set(err, -EINVAL, "the token has %zu characters; it needs %u to %u, such as those of "
			       "'openssl rand -hex 16'", n, ROLES_TOKEN_MIN, ROLES_TOKEN_MAX);
	for (const char *p = token; *p; p++)
		if (*p <= ' ' || *p >= 0x7f || strchr("\";,\\", *p))
			return err_set(err, -EINVAL, "the token contains a character that a header cannot have; "
						     "use letters and digits");
	return 0;
}

static int check_header(const char *name, struct err *err)
{
	static const char token[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";

	if (!*name || name[strspn(name, token)]) {
		err_set(err, -EINVAL, "invalid --user-header '%.80s'; use letters, digits, - and _", name);
		return err_about(err, "user-header", NULL);
	}
	return 0;
}

static int check_token(const char *token, const char *option, struct err *err)
{
	return !token || roles_check_token(token, err) >= 0 ? 0 : err_about(err, option, NULL);
}

int roles_init(struct roles *r, const struct roles_options *o, struct err *err)
{
	struct err use = { 0 };
	int e;

	*r = (struct roles){ .options = *o, .proxies = xcalloc(o->proxy_count + 1, sizeof(*r->proxies)) };
	r->sessions = sessions_new();
	r->attempts = attempts_new();
	if (!o->user_header)
		r->options.user_header = ROLES_USER_HEADER;
	for (size_t i = 0; i < o->proxy_count; i++)
		if (network_parse(o->proxies[i], &r->proxies[i], &use) < 0) {
			err_set(err, -EINVAL, "invalid --trusted-proxy '%.80s'; use %s", o->proxies[i], use.text);
			return err_about(err, "trusted-proxy", o->proxies[i]);
		}
	if ((e = check_token(o->token, "token-file", err)) < 0 || (e = check_token(o->read_token, "read-token-file", err)) < 0 ||
	    (e = check_token(o->probe_token, "probe-token-file", err)) < 0 || (e = check_header(r->options.user_header, err)) < 0)
		return e;
	if (o->token && o->read_token && strcmp(o->token, o->read_token) == 0) {
		err_set(err, -EINVAL, "the read token equals the token for full access; use different ones");
		return err_about(err, "read-token-file", NULL);
	}
	if (o->writer_count && !o->proxy_count) {
		err_set(err, -EINVAL, "--writer names users of a proxy; give its address with --trusted-proxy");
		return err_about(err, "writer", o->writers[0]);
	}
	return 0;
}

void roles_done(struct roles *r)
{
	free(r->proxies);
	sessions_free(r->sessions);
	attempts_free(r->attempts);
	*r = (struct roles){ 0 };
}
