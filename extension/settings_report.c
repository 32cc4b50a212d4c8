/* settings_report.c: stores and logs messages about settings. */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "settings_report.h"

#include "php_strobe.h"

#include "SAPI.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define SENTENCE	512	/* bytes; longer ones are truncated */
#define PROBLEMS	32	/* limit for a request, or for a pool */

struct setting_problem {
	struct setting_problem *next;
	bool lasting;			/* set before requests, so that it applies to all of them */
	bool logged;
	char text[SENTENCE];
};

/* Problems of php.ini and the command line: written while PHP starts, read by all threads. */
static struct setting_problem *startup;

static struct setting_problem *list_free(struct setting_problem *p)
{
	while (p) {
		struct setting_problem *next = p->next;

		free(p);
		p = next;
	}
	return NULL;
}

/* Adds a message unless it is already listed, or there are too many. */
static void list_add(struct setting_problem **list, const char *text, bool lasting)
{
	struct setting_problem *p;
	unsigned n = 0;

	for (; *list; list = &(*list)->next)
		if (++n == PROBLEMS || strcmp((*list)->text, text) == 0)
			return;
	p = calloc(1, sizeof(*p));
	if (!p)
		return;
	p->lasting = lasting;
	strcpy(p->text, text);
	*list = p;
}

/* --- the log
 *
 * Workers come and go, and .user.ini is read with each request, so "once" has to hold for the whole server: hashes of
 * the lines lie in memory that is shared with all children. Whoever may write a .user.ini could fill a log with
 * changing values; when the table is full, nothing is logged any more. */

#define LINES		1024

static _Atomic uint64_t own_lines[LINES];	/* used without shared memory */
static _Atomic uint64_t *lines = own_lines;

static bool is_new(const char *line, size_t n)
{
	uint64_t hash = zend_inline_hash_func(line, n) | 1;

	for (unsigned i = 0; i < LINES; i++) {
		uint64_t found = 0;

		if (atomic_compare_exchange_strong(&lines[i], &found, hash))
			return true;
		if (found == hash)
			return false;
	}
	return false;
}

static void log_line(const char *text, const char *where)
{
	char line[SENTENCE + 256];

	snprintf(line, sizeof(line), "PHP Warning:  %s%s", text, where);
	if (PG(log_errors) && is_new(line, strlen(line)))
		php_log_err(line);
}

/* FPM puts the pool's name only into the title of its workers: "php-fpm: pool www". */
static void describe_pool(char *out, size_t size)
{
	static const char title[] = "php-fpm: pool ";
	char line[128] = "";
	int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
	ssize_t n;

	*out = '\0';
	if (fd < 0)
		return;
	n = read(fd, line, sizeof(line) - 1);
	close(fd);
	if (n > 0 && strncmp(line, title, sizeof(title) - 1) == 0)
		snprintf(out, size, " (pool %s)", shown_value(line + sizeof(title) - 1,
							       strlen(line + sizeof(title) - 1)).text);
}

/* PHP does not store which of the files in the script's parent directories had the value. */
static void describe_directory(char *out, size_t size)
{
	const char *script = SG(request_info).path_translated;
	const char *slash = script ? strrchr(script, '/') : NULL;

	*out = '\0';
	if (slash)
		snprintf(out, size, " (set for scripts in %.*s/)", (int)(slash - script < 160 ? slash - script : 160),
			 script);
	for (; *out; out++)
		if ((unsigned char)*out < 0x20 || *out == 0x7f)
			*out = '?';
}

void settings_report_request_start(void)
{
	char where[192];

	for (struct setting_problem *p = STROBE_G(problems); p; p = p->next) {
		if (p->logged)
			continue;
		p->logged = true;
		if (p->lasting)
			describe_pool(where, sizeof(where));
		else
			describe_directory(where, sizeof(where));
		log_line(p->text, where);
	}
}

void settings_report_request_end(void)
{
	struct setting_problem **p = &STROBE_G(problems);

	while (*p) {
		struct setting_problem *this = *p;

		if (this->lasting) {
			p = &this->next;
		} else {
			*p = this->next;
			free(this);
		}
	}
}

/* --- reporting */

bool settings_report_wanted(int stage)
{
	return stage != ZEND_INI_STAGE_RUNTIME && stage != ZEND_INI_STAGE_DEACTIVATE &&
	       stage != ZEND_INI_STAGE_SHUTDOWN;
}

void settings_report(int stage, const char *format, ...)
{
	char text[SENTENCE];
	va_list arguments;

	if (!settings_report_wanted(stage))
		return;
	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);

	if (stage == ZEND_INI_STAGE_STARTUP && php_during_module_startup()) {
		list_add(&startup, text, true);
		php_error_docref(NULL, E_CORE_WARNING, "%s", text);
		return;
	}
	/* A new PHP thread reads all settings of php.ini again; they have already been reported. */
	for (const struct setting_problem *p = startup; p; p = p->next)
		if (strcmp(p->text, text) == 0)
			return;
	list_add(&STROBE_G(problems), text, stage != ZEND_INI_STAGE_HTACCESS && !SG(server_context));
}

struct shown_value shown_value(const char *p, size_t n)
{
	struct shown_value v;
	size_t room = sizeof(v.text) - sizeof("..."), i;

	for (i = 0; i < n && i < room; i++)
		v.text[i] = (unsigned char)p[i] < 0x20 || p[i] == 0x7f ? '?' : p[i];
	strcpy(v.text + i, i < n ? "..." : "");
	return v;
}

int setting_refuse(int stage, const zend_ini_entry *entry, const zend_string *value, const char *why,
		   const char *allowed, const char *meant)
{
	char hint[96] = "";

	if (!settings_report_wanted(stage))
		return FAILURE;
	if (meant)
		snprintf(hint, sizeof(hint), " (did you mean %s?)", meant);
	settings_report(stage, "%s=%s is ignored: %s; use %s%s", ZSTR_VAL(entry->name),
			shown_value(ZSTR_VAL(value), ZSTR_LEN(value)).text, why, allowed, hint);
	return FAILURE;
}

void settings_report_list(void (*each)(const char *sentence, void *data), void *data)
{
	for (const struct setting_problem *p = startup; p; p = p->next)
		each(p->text, data);
	for (const struct setting_problem *p = STROBE_G(problems); p; p = p->next)
		each(p->text, data);
}

/* --- life */

void settings_report_startup(void)
{
	void *shared = mmap(NULL, sizeof(own_lines), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	lines = shared == MAP_FAILED ? own_lines : shared;
}

void settings_report_shutdown(void)
{
	startup = list_free(startup);
	if (lines != own_lines)
		munmap((void *)lines, sizeof(own_lines));
	lines = own_lines;
}

void settings_report_thread_end(struct setting_problem *problems)
{
	list_free(problems);
}
