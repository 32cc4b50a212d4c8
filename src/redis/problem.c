/* problem.c: classifies error replies by their first word. */
#include "problem.h"

#include <errno.h>
#include <hiredis/hiredis.h>
#include <string.h>

static const struct meaning {
	const char *word;		/* first word of the reply */
	int code;
	bool is_state, passes;
	const char *sentence;		/* follows the address */
} meanings[REDIS_PROBLEMS] = {
	[REDIS_OTHER] = { "", -EIO, false, false, NULL },
	[REDIS_LOADING] = { "LOADING", -EAGAIN, true, true, "is loading its data; retrying until it is done" },
	[REDIS_BUSY] = { "BUSY", -EAGAIN, true, true,
			 "is busy with a script; retrying (SCRIPT KILL ends a script that only reads)" },
	[REDIS_MASTERDOWN] = { "MASTERDOWN", -EAGAIN, true, true,
			       "is a replica that has lost its master and does not serve stale data; retrying" },
	[REDIS_CLUSTERDOWN] = { "CLUSTERDOWN", -EAGAIN, true, true,
				"reports that its cluster is down; retrying. See CLUSTER INFO" },
	[REDIS_TRYAGAIN] = { "TRYAGAIN", -EAGAIN, false, true, "is moving that slot; retrying" },
	[REDIS_MOVED] = { "MOVED", -EREMCHG, false, false, "is part of a cluster, and another node has that key" },
	[REDIS_ASK] = { "ASK", -EREMCHG, false, false,
			"is part of a cluster, and another node is taking over that key" },
	[REDIS_READONLY] = { "READONLY", -EROFS, true, false,
			     "is a replica and rejects writes; use its master in the URL" },
	[REDIS_OOM] = { "OOM", -ENOSPC, true, false,
			"is out of memory and rejects writes; raise its maxmemory, or remove data" },
	[REDIS_MISCONF] = { "MISCONF", -EROFS, true, false,
			    "cannot write to its disk and rejects writes; check its log" },
	[REDIS_NOREPLICAS] = { "NOREPLICAS", -EROFS, true, false,
			       "has too few replicas to accept writes (min-replicas-to-write)" },
	[REDIS_NOAUTH] = { "NOAUTH", -EACCES, true, false,
			   "requires a password; set password-file=FILE in the URL" },
	[REDIS_WRONGPASS] = { "WRONGPASS", -EACCES, true, false,
			      "rejects the user or the password; check the URL and the file of password-file=" },
	[REDIS_NOPERM] = { "NOPERM", -EACCES, true, false, "does not permit this to the user; check its ACL" },
	[REDIS_PROTECTED] = { "DENIED", -EACCES, true, false,
			      "is in protected mode and only accepts local connections; set a password there, or bind" },
	[REDIS_MAXCLIENTS] = { "ERR max number of clients reached", -EAGAIN, true, false,
			       "has reached its limit of clients; raise its maxclients" },
	[REDIS_WRONGTYPE] = { "WRONGTYPE", -EINVAL, true, false,
			      "has a value of another type under that key; choose another key" },
	[REDIS_NOGROUP] = { "NOGROUP", -ENOENT, false, false, "has no such consumer group" },
	[REDIS_BUSYGROUP] = { "BUSYGROUP", -EEXIST, false, false, "has that consumer group already" },
	[REDIS_NOSCRIPT] = { "NOSCRIPT", -ENOENT, false, false, "does not have that script" },
};

static bool begins(const char *text, size_t n, const char *word)
{
	size_t size = strlen(word);

	return n >= size && !memcmp(text, word, size) && (n == size || text[size] == ' ' || text[size] == '\r');
}

/* Before version 6, this error had no word of its own. */
static enum redis_problem old_problem(const char *text, size_t n)
{
	static const char refused[] = "ERR invalid password";

	return n >= sizeof(refused) - 1 && !memcmp(text, refused, sizeof(refused) - 1) ? REDIS_WRONGPASS : REDIS_OTHER;
}

enum redis_problem redis_problem_of_text(const char *text, size_t n)
{
	if (n && *text == '-') {
		text++;
		n--;
	}
	for (int i = REDIS_OTHER + 1; i < REDIS_PROBLEMS; i++)
		if (begins(text, n, meanings[i].word))
			return (enum redis_problem)i;
	return old_problem(text, n);
}

enum redis_problem redis_problem(const struct redisReply *reply)
{
	if (!reply || reply->type != REDIS_REPLY_ERROR)
		return REDIS_FINE;
	return redis_problem_of_text(reply->str, (size_t)reply->len);
}

bool redis_problem_is_state(enum redis_problem p)
{
	return meanings[p].is_state;
}

bool redis_problem_passes(enum redis_problem p)
{
	return meanings[p].passes;
}

int redis_problem_explain(const struct redisReply *reply, const char *where, const char *what, struct err *err)
{
	const struct meaning *m = &meanings[redis_problem(reply)];
	char said[200];
	size_t n = 0;

	if (!reply || reply->type != REDIS_REPLY_ERROR)
		return err_set(err, -EPROTO, "Redis at %s sent an unexpected reply to %s; is it a Redis?",
			       where, what);
	for (; n < sizeof(said) - 1 && n < (size_t)reply->len; n++)
		said[n] = reply->str[n] >= ' ' && reply->str[n] <= '~' ? reply->str[n] : '?';
	said[n] = '\0';
	if (!m->sentence)
		return err_set(err, m->code, "Redis at %s refuses %s: %s", where, what, said);
	return err_set(err, m->code, "Redis at %s %s (%s: %s)", where, m->sentence, what, said);
}
