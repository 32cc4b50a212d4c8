/* redis_address.c: calls getaddrinfo, and returns the same structure for paths. */
#include "redis_address.h"

#include "mem.h"

#include <ctype.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

struct path_address {
	struct addrinfo info;		/* first, so that address_free can convert its address */
	struct sockaddr_un name;
};

static int take_path(const char *path, struct addrinfo **ret)
{
	struct path_address *a;

	if (strlen(path) > ADDRESS_PATH_MAX)
		return EAI_NONAME;
	a = xcalloc(1, sizeof(*a));
	a->name.sun_family = AF_UNIX;
	memcpy(a->name.sun_path, path, strlen(path));
	a->info = (struct addrinfo){ .ai_family = AF_UNIX, .ai_socktype = SOCK_STREAM,
				     .ai_addr = (struct sockaddr *)&a->name, .ai_addrlen = sizeof(a->name) };
	*ret = &a->info;
	return 0;
}

int address_look_up(const char *host, unsigned port, int flags, struct addrinfo **ret)
{
	const struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_flags = flags | AI_NUMERICSERV };
	char digits[12];

	if (address_is_path(host))
		return take_path(host, ret);
	snprintf(digits, sizeof(digits), "%u", port);
	return getaddrinfo(host, digits, &hints, ret);
}

void address_free(struct addrinfo *a)
{
	if (a && a->ai_family == AF_UNIX)
		free((char *)a - offsetof(struct path_address, info));
	else if (a)
		freeaddrinfo(a);
}

char *address_canonical(const char *host)
{
	const struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICHOST };
	char numeric[NI_MAXHOST] = "";
	struct addrinfo *a;
	char *copy;

	if (address_is_path(host))
		return xstrdup(host);
	if (getaddrinfo(host, NULL, &hints, &a) == 0) {
		if (getnameinfo(a->ai_addr, a->ai_addrlen, numeric, sizeof(numeric), NULL, 0, NI_NUMERICHOST))
			*numeric = '\0';
		freeaddrinfo(a);
	}
	if (!strcmp(numeric, "127.0.0.1") || !strcmp(numeric, "::1"))
		return xstrdup("localhost");
	copy = xstrdup(*numeric ? numeric : host);
	for (char *p = copy; *p; p++)
		*p = (char)tolower((unsigned char)*p);
	return copy;
}
