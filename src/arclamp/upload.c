/* upload.c: splits a command, finds its program, and runs it with a time limit. */

#include "upload.h"

#include "clock.h"
#include "intern.h"
#include "mem.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

/* --- Splitting the command --- */

/* Reads the next word at `*at` into `word`; -ENODATA at the end, -EINVAL if a quote is not closed. */
static int next_word(const char **at, struct buf *word)
{
	const char *p = *at + strspn(*at, " \t\n");
	char quote = 0;

	if (!*p)
		return -ENODATA;
	for (; *p && (quote || !strchr(" \t\n", *p)); p++) {
		if (quote ? *p == quote : *p == '\'' || *p == '"') {
			quote = quote ? 0 : *p;
		} else if (*p == '\\' && quote != '\'' && p[1]) {
			buf_putc(word, *++p);
		} else {
			buf_putc(word, *p);
		}
	}
	*at = p;
	return quote ? -EINVAL : 0;
}

static int split(struct upload *u, const char *command, struct err *err)
{
	_cleanup_(buf_done) struct buf word = { 0 };
	const char *at = command;
	int r;

	buf_init(&word);
	while ((r = next_word(&at, &word)) == 0) {
		if (u->count == UPLOAD_WORDS_MAX)
			return err_set(err, -E2BIG, "the command '%s' has more than %u words", command,
				       UPLOAD_WORDS_MAX);
		u->words[u->count++] = xstrdup(word.data);
		buf_reset(&word);
	}
	if (r == -EINVAL)
		return err_set(err, r, "a quote is not closed in the command '%s'", command);
	return u->count ? 0 : err_set(err, -EINVAL, "the command is empty");
}

static bool is_program(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

static int find_program(struct upload *u, struct err *err)
{
	const char *name = u->words[0], *path = getenv("PATH");

	if (strchr(name, '/')) {
		u->program = xstrdup(name);
		return is_program(name) ? 0 : err_set(err, -ENOENT, "program '%s' not found", name);
	}
	for (const char *at = path ? path : "/usr/bin:/bin"; *at;) {
		size_t n = strcspn(at, ":");

		free(u->program);
		u->program = xasprintf("%.*s/%s", (int)n, at, name);
		if (n && is_program(u->program))
			return 0;
		at += n + (at[n] == ':');
	}
	return err_set(err, -ENOENT, "program '%s' not found in PATH", name);
}

int upload_init(struct upload *u, const char *command, double timeout, struct err *err)
{
	int r;

	*u = (struct upload){ .timeout = timeout };
	r = split(u, command, err);
	return r < 0 ? r : find_program(u, err);
}

void upload_done(struct upload *u)
{
	for (size_t i = 0; i < u->count; i++)
		free(u->words[i]);
	free(u->program);
	*u = (struct upload){ 0 };
}

/* --- Running --- */

/* The last component of a path, and the one before it; empty if there is none. */
static struct str name_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? (struct str){ slash + 1, strlen(slash + 1) } : (struct str){ path, strlen(path) };
}

static struct str period_of(const char *path)
{
	const char *end = strrchr(path, '/'), *slash = end ? memrchr(path, '/', (size_t)(end - path)) : NULL;
	const char *start = slash ? slash + 1 : path;

	return (struct str){ start, end ? (size_t)(end - start) : 0 };
}

static char *with_path(const char *word, const char *path, bool *used)
{
	const struct { const char *text; struct str value; } places[] = {
		{ "{}", { path, strlen(path) } }, { "{name}", name_of(path) }, { "{period}", period_of(path) },
	};
	struct buf b;

	buf_init(&b);
	while (*word) {
		size_t i = 0;

		while (i < ARRAY_SIZE(places) && strncmp(word, places[i].text, strlen(places[i].text)))
			i++;
		if (i == ARRAY_SIZE(places)) {
			buf_putc(&b, *word++);
			continue;
		}
		buf_put(&b, places[i].value.p, places[i].value.n);
		word += strlen(places[i].text);
		*used |= i == 0;
	}
	return buf_take(&b, NULL);
}

static void __attribute__((noreturn)) become(const struct upload *u, char **argv, pid_t parent)
{
	sigset_t none;
	int nothing = open("/dev/null", O_RDONLY);

	/* The command must not outlive us if we are killed. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(127);
	setpgid(0, 0);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	dup2(nothing, STDIN_FILENO);
	dup2(STDERR_FILENO, STDOUT_FILENO);
	execve(u->program, argv, environ);
	dprintf(STDERR_FILENO, "strobe: cannot execute '%s': %s\n", u->program, strerror(errno));
	_exit(127);
}

/* Waits for the command; kills it and its descendants on timeout. */
static int wait_for(const struct upload *u, pid_t pid, int *ret_status)
{
	int64_t until = clock_monotonic_ns() + (int64_t)(u->timeout * (double)NS_PER_SECOND);
	useconds_t pause = 500;
	pid_t r;

	while ((r = waitpid(pid, ret_status, WNOHANG)) == 0 || (r < 0 && errno == EINTR)) {
		if (clock_monotonic_ns() > until) {
			kill(-pid, SIGKILL);
			kill(pid, SIGKILL);
			waitpid(pid, ret_status, 0);
			return -ETIMEDOUT;
		}
		usleep(pause);
		pause = pause < 50000 ? pause * 2 : pause;
	}
	return r == pid ? 0 : -ECHILD;
}

static int run(const struct upload *u, char **argv, const char *path, struct err *err)
{
	pid_t parent = getpid(), pid = fork();
	int status = 0, r;

	if (pid < 0)
		return err_set(err, -errno, "cannot start '%s': %s", u->program, strerror(errno));
	if (pid == 0)
		become(u, argv, parent);
	r = wait_for(u, pid, &status);
	if (r == -ETIMEDOUT)
		return err_set(err, r, "'%s' took longer than %g s for %s and was killed", u->words[0], u->timeout,
			       path);
	if (r < 0)
		return err_set(err, r, "cannot wait for '%s': %s", u->words[0], strerror(-r));
	if (WIFSIGNALED(status))
		return err_set(err, -EIO, "'%s' was killed by signal %d for %s", u->words[0], WTERMSIG(status), path);
	if (WEXITSTATUS(status))
		return err_set(err, -EIO, "'%s' exited with status %d for %s", u->words[0], WEXITSTATUS(status), path);
	return 0;
}

int upload_run(const struct upload *u, const char *path, struct err *err)
{
	char *argv[UPLOAD_WORDS_MAX + 2] = { NULL };
	bool used = false;
	size_t n = 0;
	int r;

	for (; n < u->count; n++)
		argv[n] = with_path(u->words[n], path, &used);
	if (!used)
		argv[n++] = xstrdup(path);
	r = run(u, argv, path, err);
	while (n)
		free(argv[--n]);
	return r;
}
