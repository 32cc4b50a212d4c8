/* doctor.h: why is there no data? Examines the daemon, each PHP, the pools of php-fpm, one process, the kernel.
 *
 * Nothing is run, written or started. Checks that touch files and other processes are called in a child process
 * (bounded.h); each adds findings to a list.
 */
#ifndef DOCTOR_DOCTOR_H
#define DOCTOR_DOCTOR_H

#include "daemon_unit.h"
#include "findings.h"
#include "php_installation.h"
#include "php_settings.h"
#include "socket_access.h"

#include <sys/types.h>

struct doctor {
	const char *root;	/* where PHPs are searched; "/" except in tests */
	const char *proc;	/* "/proc" */
	const char *socket;	/* the path where the daemon listens, or would listen */
	bool daemon;		/* a process listens there */
	bool remote;		/* the daemon has no socket, because it serves PHP on other machines */
	const char *pid;	/* the process to examine, as a number; NULL: this machine */
};

#define AREA_DAEMON	"Daemon"
#define AREA_PHP	"PHP of this machine"
#define AREA_PROCESSES	"PHP processes"
#define AREA_PROCESS	"Process"
#define AREA_SAMPLER	"System sampler"

/* Checks the daemon's own status: `json` is its answer at `url`, NULL if there was none because of `error` (from
 * status_fetch()), described by `why`. */
void doctor_daemon(struct findings *f, const char *url, const struct daemon_unit *unit, const struct buf *json, int error, const char *why);

/* Checks the socket itself. Returns whether a process listens. */
bool doctor_socket(struct findings *f, const char *path, const struct daemon_unit *unit, bool daemon_answers);

/* To be passed to bounded_check: `data` is a struct doctor. */
void doctor_php(struct findings *f, const void *data);
void doctor_processes(struct findings *f, const void *data);
void doctor_process(struct findings *f, const void *data);
void doctor_sampler(struct findings *f, const void *data);

/* --- shared by the checks */

/* Settings of one PHP or pool as findings: invalid values, modes and rates with which nothing is sampled, the JIT.
 * Returns whether requests are sampled or traced. `level` applies to findings that prevent all samples. */
bool doctor_settings(struct findings *f, enum level level, const char *area, const char *about, const struct php_binary *php,
		     const struct php_settings *s);

/* Returns "strobe.mode = sample in /etc/php/8.2/fpm/conf.d/90-strobe.ini; then restart that PHP", with the file that
 * has the setting, or else the one that loads the extension. The caller frees. */
char *doctor_change(const struct php_settings *s, const char *name, const char *value);

/* Adds " sample, every 0.01 s of wall time" to `out`. */
void doctor_put_mode(const struct php_settings *s, struct buf *out);

/* Checks the line that loads the extension, and whether the file exists and fits this PHP build. Returns whether it
 * will be loaded. */
bool doctor_extension(struct findings *f, enum level level, const char *area, const char *about, const struct root_dir *root,
		      const struct php_binary *php, const struct php_settings *s);

/* Appends the command that enables the extension for a PHP, and the one that restarts it. */
void doctor_put_enable(const struct root_dir *root, const struct php_binary *php, const char *service, struct buf *out);

/* Whether the process may write to the socket that it sends to, and whether that is the daemon's. `root_name` is
 * NULL, the path of a chroot, or "its container"; `settings` may contain the path. Returns true without a finding if
 * all is well. */
bool doctor_socket_access(struct findings *f, const struct doctor *d, enum level level, const char *area, const char *about,
		  const struct root_dir *root, const char *root_name, const char *path, const struct php_settings *settings,
		  const struct task_status *who, const char *service);

/* Returns the command that runs the doctor as root: "sudo strobe doctor", or its equivalent in a container without
 * systemd. */
const char *doctor_as_root(void);

/* Appends "systemctl restart php8.2-fpm", in a container without systemd "restart php8.2-fpm", or "restart that
 * PHP". */
void doctor_put_restart(const char *service, struct buf *out);

/* Appends the same after another command: with " && " if it is a command itself, with "; then " if it is a sentence
 * that no shell can run. */
void doctor_put_then_restart(const char *service, struct buf *out);

#endif
