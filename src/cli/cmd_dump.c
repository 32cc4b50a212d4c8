/* cmd_dump.c: `strobe dump`: the current request and stack of every PHP process. */

#include "commands.h"

#include "clock.h"
#include "json.h"
#include "fallback.h"
#include "php_activity_list.h"
#include "text.h"


static struct option_list pids;
static bool fpm, json;
static const char *offsets_file;

static const struct option_spec options[] = {
	{ OPTION_LIST, 'p', "pid", "PID", &pids, "This process; repeatable." },
	{ OPTION_FLAG, 0, "fpm", NULL, &fpm, "Every php-fpm, all pools." },
	{ OPTION_FLAG, 0, "json", NULL, &json, "Print JSON." },
	{ OPTION_STRING, 0, "php-offsets", "FILE", &offsets_file,
	  "Offsets for another PHP, from scripts/php-offsets." },
	{ 0 }
};

static const struct command_spec spec = {
	.name = "dump",
	.usage = "[-p PID | --fpm] [OPTIONS]",
	.summary = "print the current request and stack of PHP processes",
	.description =
		"Prints the current request and PHP stack of every PHP process, or of the selected ones: worker and "
		"pool, method and URI (without the query), the age and state of the request, and each function with "
		"file and line, the running one first. Idle workers take one line. The processes need no "
		"preparation and are not stopped; their memory is read (process_vm_readv), which needs root, "
		"CAP_SYS_PTRACE, or the same user. The line of the running function is the last one that PHP "
		"stored, which may be an earlier line of the same function; lines of callers are exact. The exit "
		"code is 4 when there is no PHP process.",
	.examples =
		"sudo strobe dump --fpm\n"
		"strobe dump -p 1234\n"
		"sudo strobe dump --json | jq '.processes[] | select(.age_seconds > 5)'\n",
	.options = options,
};

/* --- text */

static void put_age(struct buf *out, int64_t ns)
{
	if (ns < 0)
		return;
	buf_puts(out, ", for ");
	if (ns >= 100 * NS_PER_SECOND) {
		buf_printf(out, "%lld s", (long long)(ns / NS_PER_SECOND));
		return;
	}
	buf_put_fixed(out, (double)ns / 1e9, ns >= 10 * NS_PER_SECOND ? 1 : 3);
	buf_puts(out, " s");
}

static void put_text(struct buf *out, const char *text)
{
	text_put_plain(out, (struct str){ text, strlen(text) });
}

static void put_request(struct buf *out, const struct php_activity *n)
{
	put_text(out, n->method);
	buf_putc(out, ' ');
	put_text(out, *n->uri ? n->uri : *n->script ? n->script : "?");
}

static void put_item(const struct php_activity *n, struct buf *out)
{
	buf_printf(out, "%d", (int)n->pid);
	if (n->tid != n->pid)
		buf_printf(out, "/%d", (int)n->tid);
	buf_putc(out, ' ');
	put_text(out, n->name);
	buf_puts(out, ": ");
	if (n->doing == PHP_UNREADABLE) {
		buf_printf(out, "cannot be read: %s\n", n->why);
		return;
	}
	if (n->doing != PHP_IDLE && *n->method)
		put_request(out, n);
	else if (n->doing != PHP_IDLE && *n->script)
		put_text(out, n->script);
	if (n->doing != PHP_IDLE)
		put_age(out, n->age_ns);
	if (n->doing != PHP_IDLE && (*n->method || *n->script || n->age_ns >= 0))
		buf_puts(out, ", ");
	buf_puts(out, php_state_name(n->doing));
	if (n->doing == PHP_IDLE && n->requests >= 0)
		buf_printf(out, ", %lld request%s so far", (long long)n->requests, n->requests == 1 ? "" : "s");
	buf_putc(out, '\n');
	if (n->doing != PHP_IDLE)
		php_activity_put_stack(n, out);
}

/* --- JSON */

static void put_json_text(struct json *j, const char *key, const char *text)
{
	json_key(j, key);
	json_str(j, *text ? text : NULL);
}

static void put_json_number(struct json *j, const char *key, bool known, double v)
{
	json_key(j, key);
	if (known)
		json_double(j, v);
	else
		json_str(j, NULL);
}

static void put_json_stack(struct json *j, const struct php_activity *n)
{
	const struct php_walk *w = &n->reading.walk;

	json_key(j, "stack");
	json_open_array(j);
	for (u32 i = 0; i < w->count && n->doing < PHP_IDLE; i++) {
		const struct function_event *f = remote_reading_function(&n->reading, w->frames[i].function);
		_cleanup_(buf_done) struct buf name = { 0 };

		buf_init(&name);
		php_activity_put_name(n, i, &name);
		json_open_object(j);
		json_key(j, "function");
		json_bytes(j, (struct str){ name.data, name.size });
		put_json_text(j, "file", f ? f->file : "");
		put_json_number(j, "line", f && f->file_size, w->frames[i].line);
		json_end(j);
	}
	json_end(j);
}

static void put_json_item(struct json *j, const struct php_activity *n)
{
	bool busy = n->doing < PHP_IDLE;

	json_open_object(j);
	json_key(j, "pid");
	json_i64(j, n->pid);
	json_key(j, "tid");
	json_i64(j, n->tid);
	put_json_text(j, "name", n->name);
	put_json_text(j, "pool", n->pool);
	put_json_text(j, "state", php_state_name(n->doing));
	put_json_text(j, "method", busy ? n->method : "");
	put_json_text(j, "uri", busy ? n->uri : "");
	put_json_text(j, "script", busy ? n->script : "");
	put_json_number(j, "age_seconds", busy && n->age_ns >= 0, (double)n->age_ns / 1e9);
	put_json_number(j, "requests", n->requests >= 0, (double)n->requests);
	put_json_text(j, "why", n->why);
	put_json_stack(j, n);
	json_end(j);
}

static void put_json(const struct php_activity_list *d, struct buf *out)
{
	struct json j;

	json_init(&j, out);
	json_open_object(&j);
	json_key(&j, "processes");
	json_open_array(&j);
	for (size_t i = 0; i < d->count; i++)
		put_json_item(&j, &d->items[i]);
	json_end(&j);
	json_key(&j, "closed");
	json_u64(&j, d->targets.closed.count);
	put_json_text(&j, "closed_why", d->targets.closed_why);
	json_end(&j);
	buf_putc(out, '\n');
}

/* --- */

static void put_closed(const struct php_activity_list *d)
{
	struct obstacle hides;

	if (!pids.count && obstacle_for_hidepid("/proc", &hides))
		fprintf(stderr, "strobe: %s; %s\n", hides.cause, hides.remedy);
	if (d->targets.closed.count) {
		_cleanup_(buf_done) struct buf why = { 0 };

		buf_init(&why);
		fallback_put_closed(&why, d->targets.closed.count, d->targets.closed_why);
		fprintf(stderr, "strobe: %s; " FALLBACK_EXTENSION "\n", why.data);
	}
	if (*php_activity_list_refused(d))
		fprintf(stderr, "strobe: %s\n", php_activity_list_refused(d));
}

static int show(const struct php_activity_list *d)
{
	_cleanup_(buf_done) struct buf out = { 0 };

	buf_init(&out);
	if (json)
		put_json(d, &out);
	for (size_t i = 0; i < d->count && !json; i++)
		put_item(&d->items[i], &out);
	fwrite(out.data, 1, out.size, stdout);
	put_closed(d);
	if (d->count)
		return EXIT_OK;
	if (!d->targets.closed.count)
		fprintf(stderr, "strobe: no %s process runs here\n", fpm ? "php-fpm worker" : "PHP");
	return d->targets.closed.count ? EXIT_ERROR : EXIT_NO_SAMPLES;
}

static bool all_processes(void *data, pid_t pid)
{
	return true;
}

static int find_targets(struct php_activity_list *d, struct err *err)
{
	int e = php_activity_list_init(d, offsets_file, pids.count ? NULL : all_processes, NULL, err);

	d->fpm = fpm;
	d->masters = pids.count > 0;
	for (size_t i = 0; i < pids.count && e >= 0; i++)
		e = php_activity_list_add(d, pids.items[i], err);
	return e;
}

static int run(int argc, char **argv)
{
	struct php_activity_list d;
	struct err err = { 0 };
	int operands, code = command_options(&spec, argc, argv, false, &operands);

	if (code >= 0)
		return code;
	if (operands)
		return command_usage(&spec, "unexpected argument; select processes with -p or --fpm");
	if (pids.count && fpm)
		return command_usage(&spec, "-p and --fpm exclude each other");
	code = find_targets(&d, &err);
	if (code >= 0) {
		php_activity_list_read(&d);
		code = show(&d);
	} else {
		code = command_fail(&spec, &err);
	}
	php_activity_list_done(&d);
	return code;
}

const struct command command_dump = { &spec, run };
