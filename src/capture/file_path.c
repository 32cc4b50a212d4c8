/* file_path.c: converts leaf-first names to a path. */

#include "file_path.h"

#include <string.h>
#include <sys/socket.h>

static const char *family_name(u32 family)
{
	switch (family) {
	case AF_UNIX:
		return " unix";
	case AF_INET:
		return " ipv4";
	case AF_INET6:
		return " ipv6";
	case AF_NETLINK:
		return " netlink";
	default:
		return "";
	}
}

/* Makes "/a/b" from "b", "a". */
static void put_names(const char *names, size_t size, struct buf *out)
{
	size_t end = size;

	while (end) {
		size_t start = end - 1;		/* the NUL of the name */

		while (start && names[start - 1])
			start--;
		buf_putc(out, '/');
		buf_put(out, names + start, end - 1 - start);
		end = start;
	}
}

/* Puts a path from its first slash on, without "." and double slashes. */
static void put_given(const char *path, size_t size, struct buf *out)
{
	size_t first = out->size;

	for (size_t at = 0, end; at < size; at = end + 1) {
		const char *slash = memchr(path + at, '/', size - at);

		end = slash ? (size_t)(slash - path) : size;
		if (end == at || (end == at + 1 && path[at] == '.'))
			continue;
		buf_putc(out, '/');
		buf_put(out, path + at, end - at);
	}
	if (size && path[size - 1] == '/' && out->size > first)
		buf_putc(out, '/');
}

static void put_path(const struct file_event *e, struct buf *out)
{
	const char *given = e->text + e->names_size;
	size_t given_size = e->given_size ? e->given_size - 1 : 0, first;

	if (e->flags & FILE_UNREACHABLE)
		buf_puts(out, "(unreachable)");
	if (e->flags & FILE_CUT)
		buf_puts(out, "[...]");
	first = out->size;
	put_names(e->text, e->names_size, out);
	put_given(given, given_size, out);
	if (e->flags & FILE_UNREADABLE)
		buf_puts(out, "[unreadable name]");
	if (out->size == first)
		buf_putc(out, '/');
	if (e->flags & FILE_DELETED)
		buf_puts(out, " (deleted)");
}

static void put_anonymous(const struct file_event *e, struct buf *out)
{
	const char *name = e->text + e->names_size;
	size_t n = e->given_size ? e->given_size - 1 : 0;

	/* The kernel's own files have names like "[eventpoll]". */
	if (n > 1 && name[0] == '[' && name[n - 1] == ']') {
		name++;
		n -= 2;
	}
	buf_puts(out, n ? "[anonymous " : "[anonymous");
	buf_put(out, name, n);
	buf_putc(out, ']');
}

/* Checks that both parts end with a NUL. */
static bool is_sound(const struct file_event *e, size_t size)
{
	size_t room;

	if (size < offsetof(struct file_event, text))
		return false;
	room = size - offsetof(struct file_event, text);
	if (e->names_size > room || e->given_size > room - e->names_size)
		return false;
	return (!e->names_size || !e->text[e->names_size - 1]) && (!e->given_size || !e->text[e->names_size + e->given_size - 1]);
}

bool file_path_put(const struct file_event *e, size_t size, struct buf *out)
{
	if (!is_sound(e, size))
		return false;
	if (e->kind == FILE_ANONYMOUS)
		put_anonymous(e, out);
	else if (e->kind == FILE_SOCKET && !e->names_size)
		buf_printf(out, "[socket%s]", family_name(e->family));
	else if (e->kind == FILE_PIPE && !e->names_size)
		buf_puts(out, "[pipe]");
	else
		put_path(e, out);
	return true;
}
