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
	const char *root;	/* "/", but in tests: where PHPs are looked for */
	const char *proc;	/* "/proc" */
	const char *socket;	/* the path where the daemon listens, or would */
	bool daemon;		/* something listens there */
	bool remote;		/* the daemon has no socket: it serves PHP of other machines */
	const char *pid;	/* the process in question, as a number; NULL: this machine */
};

#define AREA_DAEMON	"Daemon"
#define AREA_PHP	"PHP of this machine"
#define AREA_PROCESSES	"PHP processes"
#define AREA_PROCESS	"Process"
#define AREA_SAMPLER	"System sampler"

/* The daemon's own status: `json` is its answer at `url`, NULL if there is none, because of `error` (of status_fetch()), described by
 * `why`. `unit` is the daemon's. */
void doctor_daemon(struct findings *f, const char *url, const struct daemon_unit *unit, const struct buf *json, int error, const char *why);

/* The socket itself. Returns whether a process listens. */
bool doctor_socket(struct findings *f, const char *path, const struct daemon_unit *unit, bool daemon_answers);

/* Looks of bounded_check: `data` is a struct doctor. */
void doctor_php(struct findings *f, const void *data);
void doctor_processes(struct findings *f, const void *data);
void doctor_process(struct findings *f, const void *data);
void doctor_sampler(struct findings *f, const void *data);

/* --- shared by the checks */

/* Settings of one PHP or pool as findings: invalid values, modes and rates with which nothing is sampled, the JIT. Returns
 * whether requests are sampled or traced. `level` is that of what keeps all samples away. */
bool doctor_settings(struct findings *f, enum level level, const char *area, const char *about, const struct php_binary *php,
		     const struct php_settings *s);

/* "strobe.mode = sample in /etc/php/8.2/fpm/conf.d/90-strobe.ini; then restart that PHP": where that setting stands, else where the
 * extension is loaded. The caller frees. */
char *doctor_change(const struct php_settings *s, const char *name, const char *value);

/* Adds " sample, every 0.01 s of wall time" to `out`. */
void doctor_put_mode(const struct php_settings *s, struct buf *out);

/* The line that loads the extension, and its file: found? for this build? Returns whether it will be loaded. */
bool doctor_extension(struct findings *f, enum level level, const char *area, const char *about, const struct root_dir *root,
		      const struct php_binary *php, const struct php_settings *s);

/* The command that switches the extension on for a PHP, and the one that restarts it. */
void doctor_put_enable(const struct root_dir *root, const struct php_binary *php, const char *service, struct buf *out);

/* Whether the process may write to the socket that it sends to, and whether that is the daemon's. `root_name` is NULL, the
 * path of a chroot, or "its container"; `settings` are those in which the path may stand. True without a finding if all is well. */
bool doctor_socket_access(struct findings *f, const struct doctor *d, enum level level, const char *area, const char *about,
		  const struct root_dir *root, const char *root_name, const char *path, const struct php_settings *settings,
		  const struct task_status *who, const char *service);

/* The command that runs the doctor with all rights: "sudo strobe doctor", or that of a container without systemd. */
const char *doctor_as_root(void);

/* "systemctl restart php8.2-fpm", in a container without systemd "restart php8.2-fpm", or "restart that PHP". */
void doctor_put_restart(const char *service, struct buf *out);

/* The same behind a command: with " && " if it is a command, or "; then " before a sentence that a shell cannot run. */
void doctor_put_then_restart(const char *service, struct buf *out);

#endif
