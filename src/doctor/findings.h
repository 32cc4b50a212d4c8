/* findings.h: the results of `strobe doctor`: for each check OK, or the cause and the command that fixes it.
 */
#ifndef DOCTOR_FINDINGS_H
#define DOCTOR_FINDINGS_H

#include "buf.h"

enum level {
	LEVEL_OK,
	LEVEL_NOTE,		/* worth knowing, nothing to fix */
	LEVEL_WARNING,		/* some data is missing, or will be */
	LEVEL_PROBLEM,		/* the reason why there is no data */
	LEVELS
};

struct finding {
	enum level level;
	char *area;		/* "daemon", "php", "pools", "process", "sampler" */
	char *check;		/* an identifier for programs: "socket-permission" */
	char *about;		/* "php-fpm 8.2.36 (/usr/sbin/php-fpm8.2)" */
	char *cause;		/* a clause without a full stop */
	char *fix;		/* a command, or what to change; "" if there is nothing to do */
};

struct findings {
	struct finding *items;
	size_t count, capacity;
	int fd;			/* -1; in a child process: its parent reads them here (bounded.h) */
	unsigned counts[LEVELS];
};

void findings_init(struct findings *f);
void findings_done(struct findings *f);

/* Texts may contain any bytes; they are escaped for terminals. */
void findings_add(struct findings *f, enum level level, const char *area, const char *check, const char *about,
		  const char *fix, const char *cause, ...) _printf_(7, 8);

/* Notes the subject of the next checks, in case it hangs. */
void findings_set_subject(struct findings *f, const char *at, ...) _printf_(2, 3);

/* Appends a whole report: findings by area, one line each and one for its remedy, and a summary. */
void findings_put_text(const struct findings *f, bool color, struct buf *out);
void findings_put_json(const struct findings *f, struct buf *out);

#endif
