/* php_strobe.h: the module as seen by PHP and the files of this extension. */
#ifndef PHP_STROBE_H
#define PHP_STROBE_H

#include "php.h"

#define PHP_STROBE_VERSION "0.1.0"

extern zend_module_entry strobe_module_entry;
#define phpext_strobe_ptr &strobe_module_entry

/* Limits of settings. */
#define STROBE_MIN_PERIOD	0.0001		/* seconds; below it the timer itself would dominate */
#define STROBE_MAX_PERIOD	3600.0
#define STROBE_MIN_FLUSH	0.01		/* seconds */
#define STROBE_MAX_FLUSH	3600.0
#define STROBE_MIN_DEPTH	4
#define STROBE_MAX_DEPTH	8192
#define STROBE_MIN_NODES	1024		/* limit of a trace's nodes */
#define STROBE_MAX_NODES	67108864
#define STROBE_MIN_CHART	1024		/* calls of a flame chart */
#define STROBE_MAX_CHART	16777216

/* The settings, explained in docs/extension.md; read at the start of a request. */
ZEND_BEGIN_MODULE_GLOBALS(strobe)
	bool sample;			/* strobe.mode = sample */
	bool cpu_clock;			/* strobe.clock = cpu */
	bool lines;			/* samples have executed lines */
	double period;			/* seconds */
	double request_rate;		/* 0 to 1 */
	zend_long max_depth;
	char *socket;			/* path; "" is the default path */
	char *labels;			/* "pool=api,deploy=7" */
	char *compat;			/* names of extensions to stand in for */
	bool instrument;		/* the call observer is wanted; "auto" is already resolved */
	bool compat_builtins;
	zend_long trace_max_nodes;
	bool trace_flame_chart;		/* traces of requests and units have one */
	zend_long trace_chart_calls;
	double flush;			/* seconds between messages of samples */
	double flush_waiting;		/* seconds between inspections of a thread that may be waiting; 0: none */
	double trace_rate;		/* 0 to 1 */
	double trace_flush;		/* seconds between hand-overs of an unfinished trace; 0: none */
	const char *trace_keep;		/* see trace_keep.h; "" keeps all */
	char entry[256];		/* name of the running script, for its label */
	bool warned_of_delivery;	/* in this request, about timers whose callbacks cannot run */
	bool in_request;		/* from its start until its end begins: programs may start traces etc. */
	struct setting_problem *problems;	/* see settings_report.h */
	int64_t request_ns;		/* CLOCK_MONOTONIC: start of the request */
	struct api_thread *api;		/* see api_thread.h */
	char method[32];		/* request method, for its label; "" if none */

	/* The current labels and decisions, maintained by api/scopes.c. */
	const struct request_labels *own_labels;	/* given by the program; NULL: none */
	uint32_t labels_version;	/* changes with each change of these labels */
	bool unsampled;			/* the running work must not be sampled, even if other work is */

	/* The thread's entries in process-wide lists, for when it ends. */
	struct alarms *alarms;
	struct sampler *sampler;
ZEND_END_MODULE_GLOBALS(strobe)

ZEND_EXTERN_MODULE_GLOBALS(strobe)
#define STROBE_G(v) ZEND_MODULE_GLOBALS_ACCESSOR(strobe, v)

#endif
