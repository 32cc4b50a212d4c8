/* arclamp_config.h: reads arclamp-log's configuration file as it is.
 *
 *	base_path: /srv/arclamp/logs		this unless given
 *	redis: {host: …, port: …}		arguments of redis-py: host, port, db, username, password, unix_socket_path, ssl,
 *						ssl_ca_certs, ssl_certfile, ssl_keyfile, ssl_cert_reqs; those about
 *						timeouts, encodings and the like are not needed here
 *	redis_channel: excimer			a name, several with commas between them, or a list
 *	logs:
 *	  - {period: hourly, format: "%Y-%m-%d_%H", retain: 336, sample_pop: 1, channel: excimer}
 *
 * Without redis_channel arclamp-log listens on "arclamp", while Arc Lamp's client publishes on "excimer", so both are
 * subscribed. `channel` is our addition: such a group receives only messages of that channel, so that one process
 * replaces several. Unknown keys are skipped with a warning. Errors name file and line.
 */
#ifndef ARCLAMP_ARCLAMP_CONFIG_H
#define ARCLAMP_ARCLAMP_CONFIG_H

#include "logs.h"
#include "yaml_tree.h"

#define ARCLAMP_WARNINGS	32u
#define ARCLAMP_CHANNELS	32u

struct arclamp_config {
	struct logs_options logs;
	char *source_url;		/* "redis://user:password@host:6379/0?channel=excimer"; NULL if there is none
					 * … */
	char *source_problem;		/* … and then the reason, which matters only if no other source is configured */
	char *channels;			/* redis_channel, as in that URL; NULL: not given, or wrong */
	char *channels_problem;		/* the error in it, with file and line, or NULL */
	char *warnings[ARCLAMP_WARNINGS];
	size_t warning_count;
};

/* Whether the file is arclamp-log's, not Strobe's: its `logs` is a list of groups. */
bool arclamp_config_is(const struct yaml_node *root);

/* Free with arclamp_config_done, also after an error. */
int arclamp_config_make(const struct yaml_node *root, struct arclamp_config *ret, struct err *err);
int arclamp_config_read(const char *path, struct arclamp_config *ret, struct err *err);
void arclamp_config_done(struct arclamp_config *c);

#endif
