/* findings.c: the list of findings, and sending it from a child process to its parent. */
#include "findings.h"

#include "io.h"
#include "json.h"
#include "mem.h"
#include "text.h"

#include <stdarg.h>
#include <string.h>

void findings_init(struct findings *f)
{
	*f = (struct findings){ .fd = -1 };
}

void findings_done(struct findings *f)
{
	for (size_t i = 0; i < f->count; i++) {
		free(f->items[i].area);
		free(f->items[i].check);
		free(f->items[i].about);
		free(f->items[i].cause);
		free(f->items[i].fix);
	}
	free(f->items);
	findings_init(f);
}

static char *plain(const char *text)
{
	struct buf b;

	buf_init(&b);
	text_put_plain(&b, (struct str){ text, strlen(text) });
	return buf_take(&b, NULL);
}

static void put_field(struct buf *out, const char *text)
{
	buf_put(out, text, strlen(text) + 1);
}

/* A record in the pipe is a letter, then NUL-terminated texts. */
static void send_record(const struct findings *f, char letter, const char *const *texts, size_t count)
{
	_cleanup_(buf_done) struct buf b = { 0 };

	buf_init(&b);
	buf_putc(&b, letter);
	for (size_t i = 0; i < count; i++)
		put_field(&b, texts[i]);
	io_write_all(f->fd, b.data, b.size, NULL);
}

void findings_add(struct findings *f, enum level level, const char *area, const char *check, const char *about,
		  const char *fix, const char *cause, ...)
{
	_cleanup_(freep) char *text = NULL;
	va_list arguments;

	va_start(arguments, cause);
	if (vasprintf(&text, cause, arguments) < 0)
		mem_exhausted(strlen(cause));
	va_end(arguments);
	f->counts[level]++;
	if (f->fd >= 0) {
		const char *const texts[] = { area, check, about, text, fix ? fix : "" };

		send_record(f, (char)('0' + level), texts, ARRAY_SIZE(texts));
		return;
	}
	GROW(&f->items, &f->capacity, f->count + 1);
	f->items[f->count++] = (struct finding){ level, plain(area), plain(check), plain(about), plain(text), plain(fix ? fix : "") };
}

void findings_set_subject(struct findings *f, const char *at, ...)
{
	_cleanup_(freep) char *text = NULL;
	const char *texts[1];
	va_list arguments;

	if (f->fd < 0)
		return;
	va_start(arguments, at);
	if (vasprintf(&text, at, arguments) < 0)
		mem_exhausted(strlen(at));
	va_end(arguments);
	texts[0] = text;
	send_record(f, 'L', texts, 1);
}

/* --- text */

static const struct {
	const char *word, *color;
} levels[LEVELS] = {
	[LEVEL_OK] = { "ok", "\033[32m" },
	[LEVEL_NOTE] = { "note", "" },
	[LEVEL_WARNING] = { "warning", "\033[33m" },
	[LEVEL_PROBLEM] = { "PROBLEM", "\033[1;31m" },
};

static void put_counted(struct buf *out, unsigned n, const char *what)
{
	buf_printf(out, "%u %s%s", n, what, n == 1 ? "" : "s");
}

static void put_summary(const struct findings *f, struct buf *out)
{
	unsigned problems = f->counts[LEVEL_PROBLEM], warnings = f->counts[LEVEL_WARNING];

	buf_putc(out, '\n');
	if (!problems && !warnings) {
		buf_puts(out, "Nothing is wrong.\n");
		return;
	}
	if (problems)
		put_counted(out, problems, "problem");
	if (problems && warnings)
		buf_puts(out, ", ");
	if (warnings)
		put_counted(out, warnings, "warning");
	buf_puts(out, problems ? ".\n" : "; none of them blocks all data.\n");
}

/* A remedy shared by several consecutive findings is printed below the last of them. */
static bool shares_fix(const struct findings *f, size_t i)
{
	return i + 1 < f->count && !strcmp(f->items[i].area, f->items[i + 1].area) && !strcmp(f->items[i].fix, f->items[i + 1].fix);
}

void findings_put_text(const struct findings *f, bool color, struct buf *out)
{
	for (size_t i = 0; i < f->count; i++) {
		const struct finding *one = &f->items[i];

		if (!i || strcmp(one->area, f->items[i - 1].area))
			buf_printf(out, "%s%s\n", i ? "\n" : "", one->area);
		buf_printf(out, "  %s%-8s%s %s%s%s\n", color ? levels[one->level].color : "", levels[one->level].word,
			   color && *levels[one->level].color ? "\033[0m" : "", one->about, *one->about ? ": " : "", one->cause);
		if (*one->fix && !shares_fix(f, i))
			buf_printf(out, "           fix: %s\n", one->fix);
	}
	put_summary(f, out);
}

/* --- JSON */

static void put_member(struct json *j, const char *key, const char *text)
{
	json_key(j, key);
	json_str(j, text);
}

void findings_put_json(const struct findings *f, struct buf *out)
{
	static const char *const words[LEVELS] = { "ok", "note", "warning", "problem" };
	struct json j;

	json_init(&j, out);
	json_open_object(&j);
	json_key(&j, "problems");
	json_u64(&j, f->counts[LEVEL_PROBLEM]);
	json_key(&j, "warnings");
	json_u64(&j, f->counts[LEVEL_WARNING]);
	json_key(&j, "findings");
	json_open_array(&j);
	for (size_t i = 0; i < f->count; i++) {
		const struct finding *one = &f->items[i];

		json_open_object(&j);
		put_member(&j, "level", words[one->level]);
		put_member(&j, "area", one->area);
		put_member(&j, "check", one->check);
		put_member(&j, "about", one->about);
		put_member(&j, "cause", one->cause);
		put_member(&j, "fix", *one->fix ? one->fix : NULL);
		json_end(&j);
	}
	json_end(&j);
	json_end(&j);
	buf_putc(out, '\n');
}
