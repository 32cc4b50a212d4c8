/* arclamp_metrics.h: the series used by Arc Lamp's dashboards and alerts, computed from a tree of logs and its
 * pictures.
 *
 *	arclamp_oldest_log_seconds, arclamp_newest_log_seconds	{period,profiler,entry,compressed="no|yes"}: when it was written
 *	arclamp_oldest_temporary_file_seconds			of compressing; now, if there is none
 *	arclamp_oldest_svg_seconds, arclamp_newest_svg_seconds	{period,profiler,entry}; the newest of those that are whole
 *	arclamp_truncated_svg_files_total			{period,profiler,entry}: of at most 20 bytes
 *	arclamp_log_bytes_total, arclamp_svg_bytes_total	{period}
 *
 * All are gauges. A log without a profiler in its name has profiler="". Bytes of labels that are not [A-Za-z0-9_.-]
 * become _.
 */
#ifndef ARCLAMP_ARCLAMP_METRICS_H
#define ARCLAMP_ARCLAMP_METRICS_H

#include "buf.h"
#include "err.h"
#include <stdint.h>

#define ARCLAMP_SERIES_MAX	20000u	/* excess series count as entry="other" of their period */

/* Scans both directories once and appends the series in Prometheus' text format. `svgs` may be NULL or missing. */
int arclamp_metrics_put(const char *logs, const char *svgs, int64_t now_ns, struct buf *out, struct err *err);

#endif
