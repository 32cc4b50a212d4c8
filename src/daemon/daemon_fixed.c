/* daemon_fixed.c: checks settings that apply only after a restart, and finds those that changed. */

#include "daemon_private.h"

#include "cleanup.h"
#include "log.h"
#include "state_lock.h"

#include <dirent.h>
#include <string.h>
#include <sys/stat.h>

/* --- Checks --- */

int daemon_check_metrics(const struct daemon_options *o, struct err *err)
{
	DIR *logs = o->arclamp_metrics ? opendir(o->arclamp_metrics) : NULL;

	if (o->arclamp_metrics && !logs) {
		err_set(err, -errno, "--arclamp-metrics: cannot open '%s': %s; name the directory of the trace logs", o->arclamp_metrics,
			strerror(errno));
		return err_about(err, "arclamp-metrics", NULL);
	}
	if (logs)
		closedir(logs);
	return 0;
}

static bool is_one_directory(const char *a, const char *b)
{
	struct stat x, y;

	return a && b && stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

/* The directory in use is locked by this process, so it is not checked. */
static int check_state(const char *ours, const char *other, struct err *err)
{
	_cleanup_(fd_closep) int lock = -1;

	if (!other || is_one_directory(ours, other) || state_lock(other, &lock, err) >= 0)
		return 0;
	return err_about(err, "state", NULL);
}

static bool differs(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) != 0 : a != b;
}

static int check_server(const struct daemon_options *o, const struct daemon_options *n, struct err *err)
{
	struct server_options server = daemon_server_options(n);
	int r = daemon_check_metrics(n, err);

	if (r >= 0)
		r = server_check(&server, err);
	if (r >= 0 && (o->no_server || differs(o->listen, n->listen)))
		r = server_check_listen(n->listen, "--listen", err);
	if (r >= 0 && n->probe_listen && differs(o->probe_listen, n->probe_listen))
		r = server_check_listen(n->probe_listen, "--probe-listen", err);
	return r;
}

int daemon_check_fixed(struct daemon *d, const struct daemon_options *n, struct err *err)
{
	int r = n->store_url ? daemon_check_page(d, n, err) : 0;

	if (r >= 0)
		r = check_state(d->options.state, n->state, err);
	if (r >= 0 && !n->no_server)
		r = check_server(&d->options, n, err);
	return r;
}

/* --- Changes --- */

static bool lists_differ(const char *const *a, size_t a_count, const char *const *b, size_t b_count)
{
	bool differ = a_count != b_count;

	for (size_t i = 0; i < a_count && !differ; i++)
		differ = strcmp(a[i], b[i]) != 0;
	return differ;
}

void daemon_log_fixed(const struct daemon_options *o, const struct daemon_options *n)
{
	const struct roles_options *a = &o->roles, *b = &n->roles;
	bool other_store = differs(o->store_url, n->store_url);
	const struct {
		const char *option;
		bool differs;
	} fixed[] = {
		{ "listen", differs(o->listen, n->listen) || o->no_server != n->no_server },
		{ "token-file", differs(a->token, b->token) },
		{ "read-token-file", differs(a->read_token, b->read_token) },
		{ "probe-token-file", differs(a->probe_token, b->probe_token) },
		{ "trusted-proxy", lists_differ(a->proxies, a->proxy_count, b->proxies, b->proxy_count) },
		{ "user-header", differs(a->user_header, b->user_header) },
		{ "writer", lists_differ(a->writers, a->writer_count, b->writers, b->writer_count) },
		{ "probe-listen", differs(o->probe_listen, n->probe_listen) },
		{ "query-memory", o->query_memory != n->query_memory },
		{ "store", other_store },
		{ "state", !other_store && differs(o->state, n->state) },	/* follows the store unless set */
		{ "allow-host", lists_differ(o->allow_hosts, o->allow_host_count, n->allow_hosts, n->allow_host_count) },
		{ "source-dir", lists_differ(o->source_dirs, o->source_dir_count, n->source_dirs, n->source_dir_count) },
		{ "service-label", lists_differ(o->service_labels, o->service_label_count, n->service_labels,
						n->service_label_count) },
		{ "label-from", lists_differ(o->label_rules, o->label_rule_count, n->label_rules, n->label_rule_count) },
		{ "arclamp-metrics", differs(o->arclamp_metrics, n->arclamp_metrics) },
	};

	for (size_t i = 0; i < ARRAY_SIZE(fixed); i++)
		if (fixed[i].differs)
			log_warning("%s changed; restart to apply", fixed[i].option);
}
