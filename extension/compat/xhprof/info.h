/* info.h: additions to names by xhprof.collect_additional_info: the SQL of a query, the URL of a transfer.
 *
 *	PDO::exec, PDO::query, mysqli_query, mysqli::query	"PDO::query#SELECT 1"
 *	PDOStatement::execute					with its parameters inserted
 *	curl_exec						"curl_exec#https://example.org/"
 */
#ifndef STROBE_INFO_H
#define STROBE_INFO_H

#include "tracer.h"

extern const struct trace_annotation info_annotation;

#endif
