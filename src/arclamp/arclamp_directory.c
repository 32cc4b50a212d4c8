/* arclamp_directory.c: reads one key of arclamp-log.yaml. */

#include "arclamp_directory.h"

#include "arclamp_config.h"
#include "mem.h"

static int read_config(const char *config, char **ret, struct err *err)
{
	struct arclamp_config c = { 0 };
	int r = arclamp_config_read(config, &c, err);

	if (r >= 0)
		*ret = xstrdup(c.logs.base);
	arclamp_config_done(&c);
	return r < 0 ? r : 0;
}

int arclamp_directory(const char *logs, const char *config, char **ret, struct err *err)
{
	if (logs && config)
		return err_set(err, -EINVAL, "--logs and --arclamp exclude each other");
	if (logs && !*logs)
		return err_set(err, -EINVAL, "--logs is empty");
	if (config)
		return read_config(config, ret, err);
	*ret = xstrdup(logs ? logs : ARCLAMP_LOGS);
	return 0;
}
