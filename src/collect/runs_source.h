/* runs_source.h: a directory to which xhprof_lib, uprofiler_lib or anything like them writes a file per run.
 *
 *	runs:/var/xhprof			files named ID.SOURCE.xhprof and ID.SOURCE.uprofiler, each imported once
 *	runs:/var/xhprof?label.site=shop	with labels of their own
 *
 * Further suffixes .json, .gz or .zst are allowed; other files are ignored. A file is read when its writer has closed it, as
 * inotify tells, or else when it has not changed for RUNS_QUIET_NS; one that cannot be read as a profile may still be incomplete,
 * and is rejected when it has not changed for RUNS_GIVE_UP_NS. It is read in a process of its own (sandbox.h), becomes a run with
 * the id and source of its name that ended when the file was changed last, and is finished when the run is committed. The file is
 * not moved.
 *
 * Links, anything but regular files, files above SANDBOX_FILE_MAX and files that are not profiles are refused with a sentence and
 * counted (source.h), once each.
 */
#ifndef COLLECT_RUNS_SOURCE_H
#define COLLECT_RUNS_SOURCE_H

#include "source.h"

#define RUNS_QUIET_NS	(2LL * 1000000000)
#define RUNS_GIVE_UP_NS	(60LL * 1000000000)

extern const struct source_ops runs_source_ops;

#endif
