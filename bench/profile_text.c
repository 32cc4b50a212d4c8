/* profile_text.c: generates text in the formats of profilers, the same every time.
 *
 * The names are like those of a large PHP site and of the interpreter below it. Stacks are made from each other, by keeping
 * a part of an earlier one, so that they are a tree; the later ones of a file repeat the first, some far more often than
 * others.
 *
 *	profile_text folded LINES STACKS SHALLOWEST DEEPEST	folded stacks, each with the count 1
 *	profile_text perf SAMPLES STACKS SHALLOWEST DEEPEST	what `perf script` prints
 *	profile_text bt LINES STACKS SHALLOWEST DEEPEST		SystemTap's backtraces, each with a count
 *
 * Writes to standard output. */
#include "mem.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAMES		6000u
#define LINE_MAX_BYTES	((size_t)1 << 16)
#define DEPTH_MAX	200u

static const char *const spaces[] = {
	"App\\Controller\\", "App\\Service\\Billing\\", "Shop\\Cart\\Model\\", "Shop\\Catalogue\\Search\\", "Wiki\\Page\\",
	"Wiki\\Page\\Storage\\", "Wiki\\Markup\\", "Mail\\Transport\\", "Vendor\\Template\\Node\\", "Vendor\\Orm\\Mapping\\",
	"Vendor\\Http\\Middleware\\", "Vendor\\Templating\\Compiler\\Node\\", "Shop\\Catalogue\\Search\\Index\\",
	"Wiki\\Extension\\Discussion\\Thread\\", "Vendor\\Dependency\\Injection\\",
};
static const char *const classes[] = {
	"Renderer", "Repository", "Gateway", "Kernel", "Dispatcher", "RowMapper", "QueryPlanner", "TokenStream", "Lexer",
	"MarkupParser", "LinkTable", "PageStore", "SessionHandler", "CachePool", "BlobReader", "AccessList", "UserProvider",
	"PriceRule", "Basket", "FacetCounter", "LogWriter", "EventBus", "Container", "UrlMatcher", "ThumbnailQueue",
};
static const char *const methods[] = {
	"handle", "run", "load", "store", "fetchAll", "fetchRow", "expand", "parseBlock", "parseInline", "resolve", "build",
	"render", "renderChildren", "dispatch", "invoke", "hydrate", "persist", "commit", "lookup", "lookupMany", "normalize",
	"format", "translate", "__construct", "__call", "__get", "offsetGet", "getIterator", "count", "match", "filter",
};
static const char *const natives[] = {
	"zend_execute", "execute_ex", "zend_call_function", "php_execute_scripts", "zif_preg_replace", "php_pcre_exec",
	"zend_hash_find", "zend_string_alloc", "_emalloc", "_efree", "zend_gc_run", "sapi_cgi_main", "fcgi_accept_request",
	"php_json_encode", "mysqlnd_read", "php_stream_read", "zend_std_call", "smart_str_append", "do_syscall_64",
	"entry_SYSCALL_64", "tcp_recvmsg", "ep_poll", "schedule_timeout", "copy_page_range", "filemap_fault", "vfs_read",
};
static const char *const modules[] = { "/usr/sbin/php-fpm8.2", "/usr/lib/x86_64-linux-gnu/libc.so.6", "[kernel.kallsyms]" };
static const char *const stap_modules[] = { "/usr/sbin/php-fpm8.2", "/usr/lib/x86_64-linux-gnu/libc.so.6", "kernel" };

static uint64_t random_state = 0x9e3779b97f4a7c15u;

static uint32_t below(uint32_t n)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (uint32_t)((random_state >> 32) * n >> 32);
}

#define ONE_OF(list) list[below(sizeof(list) / sizeof((list)[0]))]

static char *method_name(void)
{
	uint32_t kind = below(20);

	if (kind < 14)
		return xasprintf("%s%s%u::%s", ONE_OF(spaces), ONE_OF(classes), below(40), ONE_OF(methods));
	if (kind < 16)
		return xasprintf("{closure:/srv/www/lib/%s.php:%u}", ONE_OF(classes), below(900));
	if (kind < 18)
		return xasprintf("/srv/www/templates/%s/%s%u.php", ONE_OF(classes), ONE_OF(methods), below(30));
	return xasprintf("site_%s_%s%u", ONE_OF(classes), ONE_OF(methods), below(20));
}

/* A line of perf; the address is before the name. */
static char *perf_name(void)
{
	uint32_t offset = below(4096);

	return xasprintf("\t%16x%08x %s_%u+0x%x (%s)\n", 0x55d0 + below(32), below(UINT32_MAX), ONE_OF(natives), below(200),
			 offset, ONE_OF(modules));
}

static char *bt_name(void)
{
	uint32_t size = 16 + below(4096);

	return xasprintf(" 0x%x%08x : %s_%u+0x%x/0x%x [%s]\n", 0x55d0 + below(32), below(UINT32_MAX), ONE_OF(natives), below(200),
			 below(size), size, ONE_OF(stap_modules));
}

struct stack {
	uint16_t *names;
	uint32_t depth;
};

struct text {
	char *names[NAMES];
	size_t sizes[NAMES];
	struct stack *stacks;
	uint32_t count;
};

static void make_stack(struct text *t, struct stack *s, uint32_t shallowest, uint32_t deepest)
{
	const struct stack *from = t->count ? &t->stacks[below(t->count)] : NULL;
	uint32_t kept;

	s->depth = shallowest + below(deepest - shallowest + 1);
	s->names = xcalloc(s->depth, sizeof(*s->names));
	kept = from ? from->depth * (30 + below(65)) / 100 : 0;
	kept = kept < s->depth ? kept : s->depth - 1;
	if (kept)
		memcpy(s->names, from->names, kept * sizeof(*s->names));
	for (uint32_t i = kept; i < s->depth; i++)
		s->names[i] = (uint16_t)below(i ? NAMES : 4);
	t->count++;
}

static void make(struct text *t, char *(*name)(void), uint32_t stacks, uint32_t shallowest, uint32_t deepest)
{
	for (uint32_t i = 0; i < NAMES; i++) {
		t->names[i] = name();
		t->sizes[i] = strlen(t->names[i]);
	}
	t->stacks = xcalloc(stacks, sizeof(*t->stacks));
	for (uint32_t i = 0; i < stacks; i++)
		make_stack(t, &t->stacks[i], shallowest, deepest);
}

/* Returns each stack once, and then mostly the first ones. */
static const struct stack *pick(const struct text *t, uint64_t line)
{
	double x;

	if (line < t->count)
		return &t->stacks[line];
	x = (double)below(1u << 30) / (1u << 30);
	return &t->stacks[(uint32_t)(pow(x, 2.5) * t->count)];
}

static void put(const struct text *t, uint16_t name, char **at)
{
	memcpy(*at, t->names[name], t->sizes[name]);
	*at += t->sizes[name];
}

static char *put_folded(const struct text *t, const struct stack *s, char *at)
{
	for (uint32_t i = 0; i < s->depth; i++) {
		put(t, s->names[i], &at);
		*at++ = i + 1 < s->depth ? ';' : ' ';
	}
	return at + sprintf(at, "1\n");
}

/* The leaf comes first. */
static char *put_frames(const struct text *t, const struct stack *s, char *at)
{
	for (uint32_t i = s->depth; i-- > 0;)
		put(t, s->names[i], &at);
	return at;
}

static char *put_perf(const struct text *t, const struct stack *s, uint64_t line, char *at)
{
	at += sprintf(at, "php-fpm8.2 %6u [%03u] %6llu.%06u:   10101010 cycles:u: \n", 1000 + below(64), below(8),
		      100 + (unsigned long long)line / 100, (unsigned)(line % 100) * 10000);
	at = put_frames(t, s, at);
	*at++ = '\n';
	return at;
}

static char *put_bt(const struct text *t, const struct stack *s, char *at)
{
	at = put_frames(t, s, at);
	return at + sprintf(at, "\t%u\n", 1 + below(9));
}

int main(int argc, char **argv)
{
	static struct text t;
	static char line[LINE_MAX_BYTES];
	uint64_t lines;
	uint32_t stacks, shallowest, deepest;
	char kind;

	if (argc != 6 || !strchr("fpb", kind = argv[1][0])) {
		fprintf(stderr, "usage: profile_text folded|perf|bt LINES STACKS SHALLOWEST DEEPEST\n");
		return 1;
	}
	lines = strtoull(argv[2], NULL, 10);
	stacks = (uint32_t)strtoul(argv[3], NULL, 10);
	shallowest = (uint32_t)strtoul(argv[4], NULL, 10);
	deepest = (uint32_t)strtoul(argv[5], NULL, 10);
	if (!stacks || !shallowest || shallowest > deepest || deepest > DEPTH_MAX) {
		fprintf(stderr, "profile_text: stacks are from 1 to %u frames deep\n", DEPTH_MAX);
		return 1;
	}
	make(&t, kind == 'f' ? method_name : kind == 'p' ? perf_name : bt_name, stacks, shallowest, deepest);
	setvbuf(stdout, NULL, _IOFBF, 1 << 20);
	for (uint64_t i = 0; i < lines; i++) {
		const struct stack *s = pick(&t, i);
		char *end = kind == 'f' ? put_folded(&t, s, line) : kind == 'p' ? put_perf(&t, s, i, line) : put_bt(&t, s, line);

		if (fwrite(line, 1, (size_t)(end - line), stdout) != (size_t)(end - line)) {
			perror("profile_text");
			return 1;
		}
	}
	return fflush(stdout) ? 1 : 0;
}
