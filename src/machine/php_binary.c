/* php_binary.c: finds known strings among PHP's constants. */
#include "php_binary.h"

#include "elf_file.h"
#include "mem.h"

#include <ctype.h>
#include <fcntl.h>
#include <string.h>

#define CONSTANTS_MAX	((size_t)128 << 20)	/* frankenphp is large: it contains Go's runtime */
#define PATH_LIMIT	200			/* bytes of a directory */

/* --- builds */

/* Returns the length of "API20220829,NTS" or "API20220829,TS,debug" if a NUL follows it, else 0. */
static size_t build_length(const char *p, const char *end)
{
	const char *start = p;

	p += 3;
	for (int i = 0; i < 8; i++, p++)
		if (p >= end || !isdigit((unsigned char)*p))
			return 0;
	if (end - p > 4 && !memcmp(p, ",NTS", 4))
		p += 4;
	else if (end - p > 3 && !memcmp(p, ",TS", 3))
		p += 3;
	else
		return 0;
	if (end - p > 6 && !memcmp(p, ",debug", 6))
		p += 6;
	return p < end && *p == '\0' ? (size_t)(p - start) : 0;
}

char *php_build_find(const char *bytes, size_t n)
{
	const char *end = bytes + n;

	for (const char *p = bytes; (p = memmem(p, (size_t)(end - p), "API", 3)); p++) {
		size_t length = build_length(p, end);

		if (length)
			return xstrndup(p, length);
	}
	return NULL;
}

/* --- constants */

struct constants {
	const char *bytes, *end;
	char *scan, *extensions;	/* the best candidates so far */
	unsigned scan_rank, extensions_rank;
	char api[9];			/* "20220829" */
};

/* Whether the constants contain `text` as a whole string. */
static bool has(const struct constants *c, const char *text)
{
	size_t n = strlen(text) + 1;

	for (const char *p = c->bytes; (p = memmem(p, (size_t)(c->end - p), text, n)); p++)
		if (p == c->bytes || p[-1] == '\0')
			return true;
	return false;
}

/* Matches the end of a string as well, since linkers merge strings with equal ends. */
static const char *after(const struct constants *c, const char *text)
{
	const char *p = memmem(c->bytes, (size_t)(c->end - c->bytes), text, strlen(text));

	return p ? p + strlen(text) : NULL;
}

static bool ends(const char *s, size_t n, const char *with)
{
	return n > strlen(with) && !memcmp(s + n - strlen(with), with, strlen(with));
}

static bool is_plain_path(const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!isalnum((unsigned char)s[i]) && !strchr("/._-+", s[i]))
			return false;
	return n > 1 && s[0] == '/';
}

static void keep(char **best, unsigned *best_rank, unsigned rank, const char *s, size_t n)
{
	if (rank <= *best_rank)
		return;
	free(*best);
	*best = xstrndup(s, n);
	*best_rank = rank;
}

/* Directories of ini files are called conf.d (PHP's own images, Debian) or php.d (Fedora); those of extensions end
 * with the API's number, or with "modules". */
static void check_path(struct constants *c, const char *s, size_t n)
{
	if (ends(s, n, "/conf.d") || ends(s, n, "/php.d") || ends(s, n, "/php-zts.d"))
		keep(&c->scan, &c->scan_rank, memmem(s, n, "php", 3) ? 2 : 1, s, n);
	if (*c->api && ends(s, n, c->api))
		keep(&c->extensions, &c->extensions_rank, 2, s, n);
	else if (ends(s, n, "/modules") && memmem(s, n, "php", 3))
		keep(&c->extensions, &c->extensions_rank, 1, s, n);
}

static void check_paths(struct constants *c)
{
	for (const char *p = c->bytes; p < c->end; ) {
		const char *stop = memchr(p, '\0', (size_t)(c->end - p));
		size_t n = stop ? (size_t)(stop - p) : (size_t)(c->end - p);

		if (*p == '/' && n < PATH_LIMIT && is_plain_path(p, n))
			check_path(c, p, n);
		p += n + 1;
	}
}

/* Returns the value of a configure option. NULL if it was not given, or if the options are missing, as in Debian's
 * builds. */
static char *configured(const struct constants *c, const char *option)
{
	const char *p = after(c, option);
	size_t n = 0;

	while (p && p + n < c->end && p[n] && p[n] != '\'' && p[n] != ' ' && p[n] != '"' && n < PATH_LIMIT)
		n++;
	return p && is_plain_path(p, n) ? xstrndup(p, n) : NULL;
}

/* php.ini is one level above conf.d, but beside php.d. */
static char *ini_of_scan(const struct constants *c, const char *scan)
{
	_cleanup_(freep) char *above = scan ? xstrndup(scan, (size_t)(strrchr(scan, '/') - scan)) : NULL;

	return above && has(c, above) ? TAKE_PTR(above) : NULL;
}

static const char *sapi_of(const struct constants *c, const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;

	if (has(c, "FPM/FastCGI"))
		return "fpm-fcgi";
	if (has(c, "CGI/FastCGI"))
		return "cgi-fcgi";
	if (has(c, "Command Line Interface"))
		return "cli";
	/* The credits of other SAPIs mention Apache, too, so only this exact name counts. */
	if (has(c, "apache2handler") || (strstr(path, "/modules/") && !strncmp(name, "libphp", 6)))
		return "apache2handler";
	if (has(c, "PHP Embedded Library") || !strncmp(name, "libphp", 6))
		return "embed";
	return "";
}

bool php_binary_parse(const char *path, const char *bytes, size_t n, struct php_binary *ret)
{
	struct constants c = { .bytes = bytes, .end = bytes + n };
	const char *version = after(&c, "X-Powered-By: PHP/");
	_cleanup_(freep) char *build = php_build_find(bytes, n);

	*ret = (struct php_binary){ 0 };
	if (!version || !build)
		return false;
	snprintf(ret->version, sizeof(ret->version), "%.*s", (int)strspn(version, "0123456789."), version);
	snprintf(ret->build, sizeof(ret->build), "%s", build);
	snprintf(c.api, sizeof(c.api), "%.8s", build + 3);
	check_paths(&c);
	ret->path = xstrdup(path);
	ret->sapi = sapi_of(&c, path);
	ret->scan_directory = configured(&c, "--with-config-file-scan-dir=");
	if (!ret->scan_directory)
		ret->scan_directory = TAKE_PTR(c.scan);
	ret->ini_directory = configured(&c, "--with-config-file-path=");
	if (!ret->ini_directory)
		ret->ini_directory = ini_of_scan(&c, ret->scan_directory);
	if (!ret->ini_directory && has(&c, "/usr/local/lib"))
		ret->ini_directory = xstrdup("/usr/local/lib");
	ret->extension_directory = TAKE_PTR(c.extensions);
	free(c.scan);
	return true;
}

int php_binary_read_fd(int fd, const char *path, struct php_binary *ret, struct err *err)
{
	_cleanup_(elf_bytes_done) struct elf_bytes constants = { 0 };
	_cleanup_(elf_close) struct elf elf = { .fd = -1 };
	const Elf64_Shdr *s;
	int r;

	*ret = (struct php_binary){ 0 };
	r = elf_open(&elf, fd, path, err);
	if (r < 0)
		return r;
	s = elf_section(&elf, ".rodata", 0);
	if (!s || s->sh_size > CONSTANTS_MAX || elf_read_section(&elf, s, &constants, NULL) < 0)
		return err_set(err, -ENOEXEC, "cannot read the constants of '%s'", path);
	if (!php_binary_parse(path, (const char *)constants.data, constants.size, ret))
		return err_set(err, -ENOEXEC, "'%s' is not a PHP binary", path);
	return 0;
}

void php_binary_done(struct php_binary *b)
{
	free(b->path);
	free(b->ini_directory);
	free(b->scan_directory);
	free(b->extension_directory);
	*b = (struct php_binary){ 0 };
}

const char *php_sapi_name(const char *sapi)
{
	static const struct {
		const char *sapi, *name;
	} names[] = {
		{ "cli", "php" }, { "fpm-fcgi", "php-fpm" }, { "cgi-fcgi", "php-cgi" }, { "apache2handler", "mod_php" },
		{ "embed", "libphp" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (!strcmp(names[i].sapi, sapi))
			return names[i].name;
	return "PHP";
}
